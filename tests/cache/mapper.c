/* Maps a file, and stores each byte of the input at the start of the mapping. Prints the byte when that is done. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
int main(int count, char **args) {
    int file = open(args[1], O_RDWR);
    char *map = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (count != 2 || map == MAP_FAILED) return 1;
    for (int byte; (byte = getchar()) != EOF; fflush(stdout)) {
        map[0] = byte;
        putchar(byte);
    }
}
