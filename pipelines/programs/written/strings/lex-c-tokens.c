#include <stdint.h>
#include <stdbool.h>
#ifndef SRC_LEN
#define SRC_LEN 1000
#endif

/* Scanner for C-like source without newlines. Backquote stands for a line end, so that
   line comments work. Each token: kind, start, length; a hash for identifiers. */

typedef enum { TK_IDENT, TK_KEYWORD, TK_NUMBER, TK_STRING, TK_CHAR, TK_OP, TK_COMMENT, TK_JUNK, TK_KINDS } TokKind;

typedef struct Token {
    uint16_t start;
    uint16_t len;
    uint32_t kind;
    uint32_t hash;
} Token;

static const char KEYWORDS[][5] = { "if", "do", "for", "int", "else", "case" };

static bool isIdent(int c)  { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool isDigit(int c)  { return c >= '0' && c <= '9'; }
static bool isOper(int c)
{
    switch (c) {
    case '+': case '-': case '*': case '/': case '%': case '=': case '<': case '>': case '!':
    case '&': case '|': case '^': case '~': case '?': case ':': case ';': case ',': case '.':
    case '(': case ')': case '[': case ']': case '{': case '}':
        return true;
    }
    return false;
}

static bool isKeyword(const char *s, unsigned n)
{
    for (unsigned k = 0; k < sizeof KEYWORDS / sizeof KEYWORDS[0]; k++) {
        unsigned i = 0;
        while (i < n && i < 4 && KEYWORDS[k][i] == s[i]) i++;
        if (i == n && KEYWORDS[k][i] == '\0') return true;
    }
    return false;
}

static unsigned operLength(const char *s, unsigned left)
{
    if (left >= 3 && s[0] == s[1] && (s[0] == '<' || s[0] == '>') && s[2] == '=') return 3;
    if (left >= 2) {
        char a = s[0], b = s[1];
        if (b == '=' && (a == '+' || a == '-' || a == '*' || a == '/' || a == '=' || a == '!' || a == '<' ||
                         a == '>' || a == '&' || a == '|' || a == '^' || a == '%')) return 2;
        if (a == b && (a == '+' || a == '-' || a == '&' || a == '|' || a == '<' || a == '>')) return 2;
        if (a == '-' && b == '>') return 2;
    }
    return 1;
}

int scanTokens(const char *src, Token *tok, uint32_t count[TK_KINDS])
{
    int n = 0;
    for (int k = 0; k < TK_KINDS; k++) count[k] = 0;

    for (unsigned i = 0; i < SRC_LEN; ) {
        unsigned j = i;
        int c = src[i];
        TokKind kind;
        uint32_t hash = 0;

        if (c == ' ' || c == '`') { i++; continue; }
        if (isIdent(c)) {
            for (hash = 5381; j < SRC_LEN && (isIdent(src[j]) || isDigit(src[j])); j++)
                hash = hash * 33u ^ (uint32_t)src[j];
            kind = isKeyword(src + i, j - i) ? TK_KEYWORD : TK_IDENT;
        } else if (isDigit(c) || (c == '.' && i + 1 < SRC_LEN && isDigit(src[i + 1]))) {
            bool dot = false;
            for (; j < SRC_LEN; j++) {
                if (src[j] == '.') { if (dot) break; dot = true; }
                else if (!isDigit(src[j]) && !isIdent(src[j])) break;
            }
            kind = TK_NUMBER;
        } else if (c == '"' || c == '\'') {
            bool open = true;
            for (j++; j < SRC_LEN && open; j++) {
                if (src[j] == '`') break;
                if (src[j] == '\\' && j + 1 < SRC_LEN) j++;
                else if (src[j] == c) open = false;
            }
            kind = open ? TK_JUNK : c == '"' ? TK_STRING : TK_CHAR;
        } else if (c == '/' && i + 1 < SRC_LEN && (src[i + 1] == '/' || src[i + 1] == '*')) {
            bool block = src[i + 1] == '*';
            for (j += 2; j < SRC_LEN; j++) {
                if (!block && src[j] == '`') break;
                if (block && src[j] == '/' && src[j - 1] == '*' && j > i + 2) { j++; break; }
            }
            kind = TK_COMMENT;
        } else if (isOper(c)) {
            j += operLength(src + i, SRC_LEN - i);
            kind = TK_OP;
        } else {
            j++;
            kind = TK_JUNK;
        }
        tok[n++] = (Token){ (uint16_t)i, (uint16_t)(j - i), kind, hash };
        count[kind]++;
        i = j;
    }
    return n;
}
