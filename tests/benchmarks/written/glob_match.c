/* Does a pattern of letters, ? and * match the text? */
#pragma simfoundry range text=97:100 pattern=97:101
int glob_match(const char text[40], const char pattern[8])
{
    int t = 0, p = 0, star = -1, mark = 0;
    while (t < 40) {
        if (p < 8 && pattern[p] == 'd') {
            star = p++;
            mark = t;
        } else if (p < 8 && pattern[p] == text[t]) {
            p++;
            t++;
        } else if (star >= 0) {
            p = star + 1;
            t = ++mark;
        } else {
            return 0;
        }
    }
    while (p < 8 && pattern[p] == 'd')
        p++;
    return p == 8;
}
