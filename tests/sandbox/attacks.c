/* What a hostile program would try; each attempt prints what it got. argv[1] names it, argv[2] helps. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sched.h>
#include <unistd.h>

#define BLOCK ((size_t)1 << 20)

static void say(const char *what, long result)
{
    printf("%s %s\n", what, result < 0 ? strerrorname_np(errno) : "done");
    fflush(stdout);
}

static void fork_once_each(void)
{
    int made = 0;
    while (made < 1000) {
        pid_t child = fork();
        if (child == 0) {
            pause();
        }
        if (child < 0) {
            break;
        }
        made++;
    }
    printf("%d children, then %s\n", made, strerrorname_np(errno));
}

static void allocate(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        say("allocation", -1);
        return;
    }
    for (size_t i = 0; i < bytes; i += 4096) {
        memory[i] = 1;
    }
    say("allocation", 0);
}

static void daemonise(void)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            close(0);
            close(1);
            close(2);
            for (;;) {
                pause();
            }
        }
        _exit(0);
    }
    wait(NULL);
    say("daemon", 0);
}

static void write_file(const char *path, int blocks)
{
    static char block[BLOCK];
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0) {
        say(path, file);
        return;
    }
    for (int i = 0; i < blocks; i++) {
        memset(block, i + 1, BLOCK);
        if (write(file, block, BLOCK) < 0) {
            say(path, -1);
            return;
        }
    }
    close(file);
    say(path, 0);
}

static void write_many(void)
{
    for (int i = 0;; i++) {
        char name[32];
        sprintf(name, "file%d", i);
        close(open(name, O_WRONLY | O_CREAT, 0600));
    }
}

static void use_sockets(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    int pair[2];
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    say("inet", connection);
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    say("connect", connect(connection, (struct sockaddr *)&address, sizeof address));
    say("inet6", socket(AF_INET6, SOCK_DGRAM, 0));
    say("unix", socket(AF_UNIX, SOCK_STREAM, 0));
    say("pair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
}

static void attack_processes(pid_t victim)
{
    say("kill", kill(victim, SIGKILL));
    say("kill keeper", kill(1, SIGKILL));
    say("trace", ptrace(PTRACE_ATTACH, victim, 0, 0));
    say("trace keeper", ptrace(PTRACE_ATTACH, 1, 0, 0));
    say("kill all", kill(-1, SIGKILL) == 0 || errno == ESRCH ? 0 : -1);
}

static void evade_limits(void)
{
    say("memory file", memfd_create("m", 0));
    say("shared memory", shmget(IPC_PRIVATE, 1 << 30, IPC_CREAT | 0600));
    say("namespace", unshare(CLONE_NEWUSER));
    say("clone", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
    say("clone3", syscall(SYS_clone3, NULL, 0));
    say("user", setuid(0));
}

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "";
    const char *help = count > 2 ? words[2] : "";
    if (!strcmp(name, "bomb")) {
        for (;;) {
            fork();
        }
    } else if (!strcmp(name, "children")) {
        fork_once_each();
    } else if (!strcmp(name, "spin")) {
        for (;;) {
        }
    } else if (!strcmp(name, "allocate")) {
        allocate(strtoull(help, NULL, 10));
    } else if (!strcmp(name, "allocate together")) {
        fork();
        fork();
        allocate(strtoull(help, NULL, 10));
        pause();
    } else if (!strcmp(name, "daemon")) {
        daemonise();
        if (*help) {
            pause();
        }
    } else if (!strcmp(name, "huge")) {
        write_file("huge", 1 << 20);
    } else if (!strcmp(name, "many")) {
        write_many();
    } else if (!strcmp(name, "write")) {
        write_file(help, 1);
    } else if (!strcmp(name, "read")) {
        say("read", open(help, O_RDONLY));
    } else if (!strcmp(name, "link")) {
        say("link", symlink(help, "link"));
        say("read", open("link", O_RDONLY));
    } else if (!strcmp(name, "pipe")) {
        say("pipe", mkfifo("pipe", 0600));
    } else if (!strcmp(name, "sockets")) {
        use_sockets(atoi(help));
    } else if (!strcmp(name, "processes")) {
        attack_processes(atoi(help));
    } else if (!strcmp(name, "evade")) {
        evade_limits();
    } else if (!strcmp(name, "flood")) {
        for (;;) {
            fputs("and so on ", *help == 'e' ? stderr : stdout);
        }
    } else {
        return atoi(name);
    }
    return 0;
}
