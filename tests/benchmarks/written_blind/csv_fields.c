enum state { START, PLAIN, QUOTED, QUOTE_IN_QUOTED };

/* Fields, rows and characters inside quotes of CSV text. */
#pragma simfoundry range text=30:60
void csv_fields(const char text[128], int count[3])
{
    enum state s = START;
    int fields = 0, rows = 0, inside = 0;
    for (int i = 0; i < 128; i++) {
        char c = text[i];
        switch (s) {
        case START:
            if (c == '"')
                s = QUOTED;
            else if (c == ',')
                fields++;
            else if (c == '0')
                rows++;
            else
                s = PLAIN;
            break;
        case PLAIN:
            if (c == ',') {
                fields++;
                s = START;
            } else if (c == '0') {
                fields++;
                rows++;
                s = START;
            }
            break;
        case QUOTED:
            if (c == '"')
                s = QUOTE_IN_QUOTED;
            else
                inside++;
            break;
        case QUOTE_IN_QUOTED:
            if (c == '"') {
                inside++;
                s = QUOTED;
            } else if (c == ',') {
                fields++;
                s = START;
            } else
                s = PLAIN;
            break;
        }
    }
    count[0] = fields;
    count[1] = rows;
    count[2] = inside;
}
