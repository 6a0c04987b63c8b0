#include <stdint.h>
#include <stddef.h>
#include <string.h>
#include <stdio.h>

#ifndef TEXT_MAX
#define TEXT_MAX 600
#endif

#define SYMBOLS  26
#define NODES    (2 * SYMBOLS - 1)
#define MAX_BITS 12

typedef struct Node_t
{
    uint32_t uWeight;
    int      iLeft;         /* -1: a leaf */
    int      iRight;
} Node_t;

typedef struct Heap_t
{
    int aiItem[NODES + 1];  /* 1-based */
    int iCount;
} Heap_t;

static Node_t g_aNode[NODES];

static void HeapPush(Heap_t *pHeap, int iNode)
{
    int i = ++pHeap->iCount;
    while (i > 1 && g_aNode[pHeap->aiItem[i / 2]].uWeight > g_aNode[iNode].uWeight)
    {
        pHeap->aiItem[i] = pHeap->aiItem[i / 2];
        i /= 2;
    }
    pHeap->aiItem[i] = iNode;
}

static int HeapPop(Heap_t *pHeap)
{
    int iTop = pHeap->aiItem[1];
    int iLast = pHeap->aiItem[pHeap->iCount--];
    int i = 1;
    for (;;)
    {
        int iChild = 2 * i;
        if (iChild > pHeap->iCount)
            break;
        if (iChild < pHeap->iCount &&
            g_aNode[pHeap->aiItem[iChild + 1]].uWeight < g_aNode[pHeap->aiItem[iChild]].uWeight)
            iChild++;
        if (g_aNode[iLast].uWeight <= g_aNode[pHeap->aiItem[iChild]].uWeight)
            break;
        pHeap->aiItem[i] = pHeap->aiItem[iChild];
        i = iChild;
    }
    pHeap->aiItem[i] = iLast;
    return iTop;
}

/* Code lengths out of the weights in g_aNode[0 .. SYMBOLS-1]; unused symbols get 0. */
static void CodeLengths(uint8_t *pbLength)
{
    Heap_t heap;
    int aiDepth[NODES] = { 0 };
    int iNext = SYMBOLS, i;
    uint32_t uKraft = 0;

    heap.iCount = 0;
    memset(pbLength, 0, SYMBOLS);
    for (i = 0; i < SYMBOLS; i++)
        if (g_aNode[i].uWeight > 0)
            HeapPush(&heap, i);
    if (heap.iCount == 1)
        pbLength[HeapPop(&heap)] = 1;
    if (heap.iCount == 0)
        return;
    while (heap.iCount > 1)
    {
        Node_t *pNode = &g_aNode[iNext];
        pNode->iLeft = HeapPop(&heap);
        pNode->iRight = HeapPop(&heap);
        pNode->uWeight = g_aNode[pNode->iLeft].uWeight + g_aNode[pNode->iRight].uWeight;
        HeapPush(&heap, iNext++);
    }
    /* parents come after their children, so walk down from the root */
    for (i = iNext - 1; i >= SYMBOLS; i--)
        aiDepth[g_aNode[i].iLeft] = aiDepth[g_aNode[i].iRight] = aiDepth[i] + 1;

    for (i = 0; i < SYMBOLS; i++)
        if (g_aNode[i].uWeight > 0)
        {
            pbLength[i] = (uint8_t)(aiDepth[i] < MAX_BITS ? aiDepth[i] : MAX_BITS);
            uKraft += 1u << (MAX_BITS - pbLength[i]);
        }
    while (uKraft > 1u << MAX_BITS)     /* too long codes were cut: lengthen others */
    {
        int iPick = -1;
        for (i = 0; i < SYMBOLS; i++)
            if (pbLength[i] > 0 && pbLength[i] < MAX_BITS && (iPick < 0 || pbLength[i] > pbLength[iPick]))
                iPick = i;
        if (iPick < 0)
            break;
        pbLength[iPick]++;
        uKraft -= 1u << (MAX_BITS - pbLength[iPick]);
    }
}

/* Packs the letters up to the first zero; returns the number of bits. */
size_t HuffmanCanonical(const char *pszText, uint8_t *pbLength, uint8_t *pbOut)
{
    uint16_t awCode[SYMBOLS], wCode = 0;
    size_t cLetters = 0, cBits = 0, i;
    int iBits, s;

    for (s = 0; s < SYMBOLS; s++)
    {
        g_aNode[s].uWeight = 0;
        g_aNode[s].iLeft = g_aNode[s].iRight = -1;
        awCode[s] = 0;
    }
    while (cLetters < TEXT_MAX && pszText[cLetters] != '\0')
        g_aNode[pszText[cLetters++] - 'a'].uWeight++;
    CodeLengths(pbLength);

    for (iBits = 1; iBits <= MAX_BITS; iBits++, wCode = (uint16_t)(wCode << 1))
        for (s = 0; s < SYMBOLS; s++)
            if (pbLength[s] == iBits)
                awCode[s] = wCode++;

    memset(pbOut, 0, 2 * TEXT_MAX);
    for (i = 0; i < cLetters; i++)
    {
        s = pszText[i] - 'a';
        for (iBits = pbLength[s] - 1; iBits >= 0; iBits--, cBits++)
            if (awCode[s] >> iBits & 1)
                pbOut[cBits >> 3] |= (uint8_t)(0x80u >> (cBits & 7));
    }
    return cBits;
}

int main(void)
{
    static uint8_t abLength[SYMBOLS], abOut[2 * TEXT_MAX];
    size_t c = HuffmanCanonical("theraininspainstaysmainlyintheplain", abLength, abOut);
    printf("%u bits, 'n' has %d\n", (unsigned)c, abLength['n' - 'a']);
    return 0;
}
