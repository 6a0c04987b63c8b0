static const short weight[13] = {1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1};
static const char sign[13][2] = {{'M', 0},   {'C', 'M'}, {'D', 0},   {'C', 'D'}, {'C', 0}, {'X', 'C'}, {'L', 0},
                                 {'X', 'L'}, {'X', 0},   {'I', 'X'}, {'V', 0},   {'I', 'V'}, {'I', 0}};
#pragma simfoundry range year=1:3000
int roman_numerals(int year, char text[16])
{
    int n = 0;
    for (int i = 0; i < 13; i++)
        while (year >= weight[i]) {
            text[n++] = sign[i][0];
            if (sign[i][1])
                text[n++] = sign[i][1];
            year -= weight[i];
        }
    while (n < 16)
        text[n++] = 0;
    return n;
}
