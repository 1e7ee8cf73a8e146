/*
 * Records what a process writes to a database and its logs, in order, with every sync: preloaded before it (LD_PRELOAD).
 * POWER_FILE: the path of the database, as it is opened. POWER_LOG: the file that gets the record.
 *
 * A record is: kind, file (0 the database, 1 its write-ahead log, 2 its rollback journal, 3 its folder), offset (8 bytes),
 * length (4 bytes), the bytes written. Kinds: O created, W written, T truncated to the offset, S synced, U removed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *base, *endings[] = {"", "-wal", "-journal"};
static int record = -1;
static signed char which[4096];

static void begin(void) {
  if (record != -1) return;
  base = getenv("POWER_FILE");
  const char *log = getenv("POWER_LOG");
  memset(which, -1, sizeof which);
  record = base && log ? (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0644) : -2;
}

static int known(const char *path) {
  begin();
  if (record < 0) return -1;
  size_t length = strlen(base);
  if (strncmp(path, base, length) == 0)
    for (int i = 0; i < 3; i++)
      if (strcmp(path + length, endings[i]) == 0) return i;
  const char *slash = strrchr(base, '/');
  size_t folder = slash ? (size_t)(slash - base) : 0;
  if (folder && strlen(path) == folder && strncmp(path, base, folder) == 0) return 3;
  return -1;
}

static void put(char kind, int file, int64_t offset, const void *bytes, uint32_t length) {
  char head[14] = {kind, (char)file};
  memcpy(head + 2, &offset, 8);
  memcpy(head + 10, &length, 4);
  struct iovec parts[2] = {{head, 14}, {(void *)bytes, length}};
  syscall(SYS_writev, record, parts, length ? 2 : 1);
}

static int of(int fd) {
  begin();
  return record >= 0 && fd >= 0 && fd < 4096 ? which[fd] : -1;
}

static int opened(const char *path, int flags, mode_t mode) {
  int file = known(path);
  int fresh = file >= 0 && file < 3 && (flags & O_CREAT) && syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (fd >= 0 && fd < 4096 && record >= 0) which[fd] = (signed char)file;
  if (fresh && fd >= 0) put('O', file, 0, 0, 0);
  return fd;
}

#define OPEN(name)                                   \
  int name(const char *path, int flags, ...) {       \
    mode_t mode = 0;                                 \
    if (flags & (O_CREAT | O_TMPFILE)) {             \
      va_list more;                                  \
      va_start(more, flags);                         \
      mode = va_arg(more, mode_t);                   \
      va_end(more);                                  \
    }                                                \
    return opened(path, flags, mode);                \
  }
OPEN(open)
OPEN(open64)

int close(int fd) {
  if (of(fd) >= 0) which[fd] = -1;
  return (int)syscall(SYS_close, fd);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  ssize_t done = syscall(SYS_pwrite64, fd, bytes, length, offset);
  int file = of(fd);
  if (file >= 0 && done > 0) put('W', file, offset, bytes, (uint32_t)done);
  return done;
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) { return pwrite64(fd, bytes, length, offset); }

int ftruncate64(int fd, off64_t size) {
  int done = (int)syscall(SYS_ftruncate, fd, size);
  int file = of(fd);
  if (file >= 0 && done == 0) put('T', file, size, 0, 0);
  return done;
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

/* Recorded when it has ended, and not carried out: nothing here loses power. */
static int synced(int fd) {
  int file = of(fd);
  if (file >= 0) put('S', file, 0, 0, 0);
  return 0;
}
int fsync(int fd) { return synced(fd); }
int fdatasync(int fd) { return synced(fd); }

int unlink(const char *path) {
  int done = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  int file = known(path);
  if (file >= 0 && done == 0) put('U', file, 0, 0, 0);
  return done;
}
