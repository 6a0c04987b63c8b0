/* Nothing: programs of the benchmark suites include it and use nothing of it. */
#ifndef SIMFOUNDRY_UNISTD_H
#define SIMFOUNDRY_UNISTD_H
#endif
