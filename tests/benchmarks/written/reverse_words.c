/* Reverses the order of the letters of each word; words are separated by spaces. */
#pragma simfoundry range s=31:37
void reverse_words(char s[80])
{
    int begin = 0;
    while (begin < 80) {
        int end = begin;
        while (end < 80 && s[end] != ' ')
            end++;
        int i = begin, j = end - 1;
        while (i < j) {
            char c = s[i];
            s[i] = s[j];
            s[j] = c;
            i++;
            j--;
        }
        begin = end + 1;
    }
}
