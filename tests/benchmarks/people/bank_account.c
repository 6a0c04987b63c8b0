#include <stdio.h>
#include <stdint.h>

typedef enum { OK = 0, ERR_FUNDS = -1, ERR_ACCOUNT = -2 } result_t;

typedef struct {
    int64_t balance;
    uint32_t transactions;
    uint8_t frozen : 1;
    uint8_t vip : 1;
} account_t;

static account_t accounts[8];

static result_t transfer(account_t *from, account_t *to, uint32_t amount)
{
    if (from->frozen || to->frozen)
        return ERR_ACCOUNT;
    if (from->balance < amount && !from->vip) {
        printf("insufficient funds: %lld\n", (long long)from->balance);
        return ERR_FUNDS;
    }
    from->balance -= amount;
    to->balance += amount;
    from->transactions++;
    to->transactions++;
    return OK;
}

int run_transfers(const uint8_t from[30], const uint8_t to[30], const uint16_t amount[30])
{
    int failed = 0;
    for (int i = 0; i < 8; i++) {
        accounts[i].balance = 1000;
        accounts[i].transactions = 0;
        accounts[i].frozen = i == 3;
        accounts[i].vip = i % 2;
    }
    for (int i = 0; i < 30; i++)
        if (transfer(&accounts[from[i] & 7], &accounts[to[i] & 7], amount[i]) != OK)
            failed++;
    return failed;
}
