/* Sums the decimal numbers in a text of digits, spaces and signs. Ends at a zero byte or the end. */
#pragma simfoundry range text=43:58
int parse_decimals(const char text[120])
{
    int i = 0, total = 0;
    while (i < 120 && text[i] != 0) {
        int sign = 1, value = 0;
        while (i < 120 && (text[i] < '0' || text[i] > '9')) {
            sign = text[i] == '-' ? -1 : 1;
            i++;
        }
        while (i < 120 && text[i] >= '0' && text[i] <= '9') {
            value = (value * 10 + (text[i] - '0')) % 1000000;
            i++;
        }
        total += sign * value;
    }
    return total;
}
