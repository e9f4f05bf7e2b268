// SPDX-License-Identifier: GPL-2.0
/*
 * init.c - process 1 of the guest that vmtest.sh boots
 *
 * Mounts what the program wants to read, waits until the kernel has come to
 * rest, runs the program, sends files back through a second serial port, says
 * how the program ended, and switches the machine off. The host takes the
 * absence of that last line for a failure: whatever goes wrong here needs to
 * do no more than not print it.
 *
 * What to do comes in files of the initramfs, so that no quoting is involved:
 *	/vmtest/args	arguments of the program, each ended by a NUL byte
 *	/vmtest/args.2	those of a second run, if the first one ended well
 *	/vmtest/settle	seconds to wait first
 *	/vmtest/port	device to send files through
 *	/vmtest/send	files to send, a line "NAME PATH" each
 *
 * On the port: "vmtest-file NAME LENGTH CKSUM\n", LENGTH bytes, and so on, and
 * "vmtest-end\n". CKSUM is what cksum(1) of POSIX prints.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "init.h"

#define PROGRAM		"/mprotect_perf"
#define MAX_ARGS	256

static const struct {
	const char *type, *dir;
} mounts[] = {
	{ "devtmpfs",	"/dev" },
	{ "proc",	"/proc" },
	{ "sysfs",	"/sys" },
	{ "tmpfs",	"/tmp" },
};

/* The only way out: a guest that stays up costs the host its timeout. */
static void power_off(void)
{
	fflush(stdout);
	tcdrain(STDOUT_FILENO);
	reboot(RB_POWER_OFF);
	_exit(1);
}

void die(const char *what)
{
	printf("vmtest: %s: %s\n", what, strerror(errno));
	power_off();
}

/*
 * An initramfs made without root has no device nodes. The kernel may have had
 * no /dev/console to give us, so take the one of devtmpfs.
 */
static void set_up_files(void)
{
	unsigned int i;
	int fd;

	for (i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		mkdir(mounts[i].dir, 0755);
		/* EBUSY: CONFIG_DEVTMPFS_MOUNT has done it already. */
		if (mount(mounts[i].type, mounts[i].dir, mounts[i].type, 0, NULL) &&
		    errno != EBUSY)
			printf("vmtest: mount %s: %s\n", mounts[i].dir, strerror(errno));
	}
	chmod("/tmp", 01777);

	fd = open("/dev/console", O_RDWR | O_NOCTTY);
	if (fd < 0)
		return;
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* Files of /proc have no size: read until there is no more. */
int read_file(const char *path, struct blob *b)
{
	size_t room = 0;
	ssize_t n = 0;
	char *bigger;
	int fd;

	b->data = NULL;
	b->len = 0;
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	do {
		b->len += n;
		if (b->len + 1 >= room) {
			room = room ? 2 * room : 65536;
			bigger = realloc(b->data, room);
			if (!bigger) {
				n = -1;
				break;
			}
			b->data = bigger;
		}
		n = read(fd, b->data + b->len, room - b->len - 1);
	} while (n > 0);
	close(fd);
	if (b->data)
		b->data[b->len] = '\0';
	return n;
}

/* The first line of a file of the initramfs, which must be there. */
static char *read_line(const char *path)
{
	struct blob b;

	if (read_file(path, &b))
		die(path);
	b.data[strcspn(b.data, "\n")] = '\0';
	return b.data;
}

static void let_kernel_rest(void)
{
	struct timespec left = {
		.tv_sec = strtol(read_line("/vmtest/settle"), NULL, 10),
	};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static void exec_program(const char *args)
{
	char *argv[MAX_ARGS + 2] = { PROGRAM };
	struct blob b;
	unsigned int n = 1;
	size_t at;
	int fd;

	if (read_file(args, &b))
		die(args);
	for (at = 0; at < b.len && n <= MAX_ARGS; at += strlen(b.data + at) + 1)
		argv[n++] = b.data + at;
	fd = open("/dev/null", O_RDONLY);
	if (fd >= 0)
		dup2(fd, STDIN_FILENO);
	if (chdir("/tmp"))
		die("/tmp");
	/* The kernel puts words of its command line into our environment. */
	clearenv();
	setenv("HOME", "/tmp", 1);
	setenv("PATH", "/", 1);
	execv(PROGRAM, argv);
	printf("vmtest: cannot run %s: %s\n", PROGRAM, strerror(errno));
	fflush(stdout);
	_exit(127);
}

/* Returns the wait status of the program; orphans of it are ours to reap. */
static int run_program(const char *args)
{
	int status;
	pid_t pid, done;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		exec_program(args);
	do
		done = wait(&status);
	while (done != pid && (done > 0 || errno == EINTR));
	if (done != pid)
		die("wait");
	/* What it left running must not disturb what is sent. */
	kill(-1, SIGKILL);
	return status;
}

/* The CRC of cksum(1): over the bytes, then over the length, low byte first. */
static unsigned int cksum(const struct blob *b)
{
	unsigned int crc = 0;
	size_t i, len = b->len;
	unsigned int bit;

	for (i = 0; i < b->len || len; i++) {
		if (i < b->len) {
			crc ^= (unsigned int)(unsigned char)b->data[i] << 24;
		} else {
			crc ^= (unsigned int)(len & 0xff) << 24;
			len >>= 8;
		}
		for (bit = 0; bit < 8; bit++)
			crc = crc << 1 ^ (crc >> 31 ? 0x04c11db7 : 0);
	}
	return ~crc;
}

static void write_all(int fd, const char *data, size_t len)
{
	ssize_t n;

	for (; len; data += n, len -= n) {
		n = write(fd, data, len);
		if (n < 0)
			die("writing to the port");
	}
}

static int open_port(void)
{
	const char *path = read_line("/vmtest/port");
	struct termios tio;
	int fd;

	fd = open(path, O_RDWR | O_NOCTTY);
	/* Raw: a line discipline would turn newlines into two bytes. */
	if (fd < 0 || tcgetattr(fd, &tio))
		die(path);
	cfmakeraw(&tio);
	tio.c_cflag |= CLOCAL;
	cfsetspeed(&tio, B115200);
	if (tcsetattr(fd, TCSANOW, &tio))
		die(path);
	return fd;
}

/* A file that is not there is not sent: the host knows what it expects. */
static void send_files(void)
{
	char *line, *path, *save, head[256];
	struct blob list, b;
	int fd;

	if (read_file("/vmtest/send", &list))
		die("/vmtest/send");
	fd = open_port();
	for (line = strtok_r(list.data, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		path = strchr(line, ' ');
		if (!path)
			continue;
		*path++ = '\0';
		if (read_file(path, &b)) {
			printf("vmtest: no file %s: %s\n", path, strerror(errno));
			continue;
		}
		snprintf(head, sizeof(head), "vmtest-file %s %zu %u\n", line, b.len,
			 cksum(&b));
		write_all(fd, head, strlen(head));
		write_all(fd, b.data, b.len);
		free(b.data);
	}
	write_all(fd, "vmtest-end\n", 11);
	tcdrain(fd);
	close(fd);
}

int main(void)
{
	int status;

	set_up_files();
	/* Line by line, so that a crash loses nothing of what was said. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	let_kernel_rest();
	printf("vmtest: start\n");
	profile_reset();
	status = run_program("/vmtest/args");
	profile_save("/tmp/profile");
	if (!status && !access("/vmtest/args.2", F_OK)) {
		profile_reset();
		status = run_program("/vmtest/args.2");
		profile_save("/tmp/profile.2");
	}
	send_files();
	if (WIFSIGNALED(status))
		printf("vmtest: killed by signal %d (%s)\n", WTERMSIG(status),
		       strsignal(WTERMSIG(status)));
	else
		printf("vmtest: exit status %d\n", WEXITSTATUS(status));
	power_off();
	return 1;
}
