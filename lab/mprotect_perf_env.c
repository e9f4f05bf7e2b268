// SPDX-License-Identifier: GPL-2.0
/*
 * What kernel, on what machine, in which state. Only reads files; what a
 * kernel or a container does not show is "unknown".
 *
 * What this cannot tell: what a host does to a virtual machine.
 */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "mprotect_perf_env.h"
#include "mprotect_perf_err.h"

#define MP_VERSION "1"
#define TEXT 2048

static void put(const struct mp_env_sink *sink, const char *key, const char *value)
{
	sink->put(sink->ctx, key, value && *value ? value : "unknown");
}

/* First line of a file, without its end; empty when it cannot be read. */
static void first_line(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "re");

	text[0] = '\0';
	if (!f)
		return;
	if (!fgets(text, (int)size, f))
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	fclose(f);
}

/* "always [madvise] never" is what is possible; only the choice is a fact */
static void put_choice(const struct mp_env_sink *sink, const char *key, const char *path)
{
	char text[TEXT], *open, *close;

	first_line(path, text, sizeof(text));
	open = strchr(text, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close)
		*close = '\0';
	put(sink, key, close ? open + 1 : text);
}

/* The value behind "key : value" in /proc/cpuinfo */
static void cpu_fact(const char *key, char *value, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[TEXT * 2], *colon;

	value[0] = '\0';
	if (!f)
		return;
	while (!value[0] && fgets(line, sizeof(line), f)) {
		colon = strchr(line, ':');
		if (!colon || strncmp(line, key, strlen(key)))
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(value, size, "%s", colon[1] ? colon + 2 : "");
	}
	fclose(f);
}

static void put_model(const struct mp_env_sink *sink)
{
	static const char *const keys[] = { "model name", "cpu\t", "CPU part", "uarch" };
	char value[TEXT] = "";
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(keys) && !value[0]; i++)
		cpu_fact(keys[i], value, sizeof(value));
	put(sink, "model", value);
}

/*
 * What the firmware of a virtual machine says, where CPUID says nothing. An
 * instance of EC2 is one unless it is called metal.
 */
static bool looks_virtual(const char *vendor)
{
	static const char *const words[] = {
		"linux,dummy-virt", "qemu", "QEMU", "KVM", "Xen", "VMware", "Virtual",
		"Google Compute Engine",
	};
	char text[TEXT];
	unsigned int i;

	first_line("/sys/class/dmi/id/product_name", text, sizeof(text));
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(vendor, words[i]) || strstr(text, words[i]))
			return true;
	return (!strcmp(vendor, "Amazon EC2") && !strstr(text, "metal")) ||
	       !access("/proc/device-tree/hypervisor", F_OK);
}

/* Elsewhere than on x86 there may be nothing that says it: then nothing is said. */
static void put_hypervisor(const struct mp_env_sink *sink)
{
	char flags[TEXT * 2], text[TEXT];

	cpu_fact("flags", flags, sizeof(flags));
	first_line("/sys/hypervisor/type", text, sizeof(text));
	if (!text[0])
		first_line("/sys/class/dmi/id/sys_vendor", text, sizeof(text));
	if (!text[0])
		first_line("/proc/device-tree/compatible", text, sizeof(text));
	if (flags[0])
		put(sink, "hypervisor", strstr(flags, " hypervisor") ? "yes" : "no");
	else if (looks_virtual(text))
		put(sink, "hypervisor", "yes");
	put(sink, "machine_vendor", text);
}

static void put_sysfs_cpu(const struct mp_env_sink *sink, int cpu)
{
	char path[128], text[TEXT];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor",
		 cpu);
	first_line(path, text, sizeof(text));
	put(sink, "governor", text);
	first_line("/sys/devices/system/cpu/intel_pstate/no_turbo", text, sizeof(text));
	if (text[0]) {
		put(sink, "turbo", text[0] == '0' ? "on" : "off");
	} else {
		first_line("/sys/devices/system/cpu/cpufreq/boost", text, sizeof(text));
		put(sink, "turbo", !text[0] ? "" : text[0] == '1' ? "on" : "off");
	}
	first_line("/sys/devices/system/cpu/smt/control", text, sizeof(text));
	put(sink, "smt", text);
}

/* The mitigations that lie on the path of a system call or a TLB flush. */
static void put_mitigations(const struct mp_env_sink *sink)
{
	static const char *const names[] = {
		"meltdown", "spectre_v2", "spec_store_bypass", "mds", "retbleed",
		"srso", "gather_data_sampling", "its", "vmscape", "tsa",
	};
	char path[128], text[TEXT], all[TEXT] = "";
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names) && used < sizeof(all); i++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/vulnerabilities/%s",
			 names[i]);
		first_line(path, text, sizeof(text));
		if (text[0] && strcmp(text, "Not affected"))
			used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s: %.80s",
						 used ? "; " : "", names[i], text);
	}
	put(sink, "mitigations", used ? all : "none reported");
}

/* A debug kernel is not what anybody runs: symbols that only it has */
static void put_debug(const struct mp_env_sink *sink)
{
	static const struct {
		const char *name;
		const char *symbol;
	} debug[] = {
		{ "KASAN", " kasan_save_stack\n" }, { "KMSAN", " kmsan_report\n" },
		{ "KCSAN", " kcsan_setup_watchpoint\n" }, { "lockdep", " lockdep_init_map_type\n" },
		{ "DEBUG_VM", " dump_vma\n" }, { "kmemleak", " kmemleak_scan\n" },
		{ "PAGE_OWNER", " __set_page_owner\n" }, { "KCOV", " __sanitizer_cov_trace_pc\n" },
	};
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[256], all[TEXT] = "";
	size_t used = 0, lines = 0;
	unsigned int i;

	while (f && fgets(line, sizeof(line), f)) {
		lines++;
		for (i = 0; i < ARRAY_SIZE(debug); i++) {
			if (strstr(line, debug[i].symbol) && !strstr(all, debug[i].name))
				used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
							 used ? "," : "", debug[i].name);
		}
	}
	if (f)
		fclose(f);
	put(sink, "debug", used ? all : lines ? "none" : "");
}

static void put_kernel(const struct mp_env_sink *sink)
{
	char text[TEXT];
	struct utsname u;

	if (!uname(&u)) {
		put(sink, "release", u.release);
		put(sink, "build", u.version);
		put(sink, "arch", u.machine);
		put(sink, "preempt", strstr(u.version, "PREEMPT_RT") ? "rt" :
		    strstr(u.version, "PREEMPT_DYNAMIC") ? "dynamic" :
		    strstr(u.version, "PREEMPT") ? "full" : "none or voluntary");
	}
	first_line("/proc/version", text, sizeof(text));
	put(sink, "kernel", text);
	first_line("/proc/cmdline", text, sizeof(text));
	put(sink, "cmdline", text);
	snprintf(text, sizeof(text), "%ld", sysconf(_SC_PAGESIZE));
	put(sink, "page_size", text);
}

static void put_run(const struct mp_env_sink *sink, const struct mp_env_run *run)
{
	char text[TEXT] = "";
	size_t used = 0;
	int i;

	put(sink, "tool", "mprotect_perf " MP_VERSION);
	for (i = 1; i < run->argc && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
					 i > 1 ? " " : "", run->argv[i]);
	put(sink, "options", used ? text : "none");
	put(sink, "unit", run->unit);
	put(sink, "counters", run->counters);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)run->clock_step);
	put(sink, "clock_step_ns", text);
	snprintf(text, sizeof(text), "%.1f", run->clock_cost);
	put(sink, "clock_cost_ns", text);
}

void mp_env_collect(const struct mp_env_sink *sink, const struct mp_env_run *run)
{
	char text[TEXT];

	put_run(sink, run);
	put_kernel(sink);
	put_model(sink);
	snprintf(text, sizeof(text), "%d", run->cpu);
	put(sink, "cpu", text);
	snprintf(text, sizeof(text), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	put(sink, "cpus", text);
	put_sysfs_cpu(sink, run->cpu);
	put_hypervisor(sink);
	put_mitigations(sink);
	put_debug(sink);
	put_choice(sink, "thp", "/sys/kernel/mm/transparent_hugepage/enabled");
	put_choice(sink, "mthp_64k",
		   "/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled");
	put_choice(sink, "shmem_thp", "/sys/kernel/mm/transparent_hugepage/shmem_enabled");
	first_line("/proc/sys/kernel/numa_balancing", text, sizeof(text));
	put(sink, "numa_balancing", text);
	first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", text,
		   sizeof(text));
	put(sink, "clocksource", text);
	first_line("/proc/loadavg", text, sizeof(text));
	put(sink, "load", text);
}

int mp_env_last_cpu(void)
{
	cpu_set_t set;
	int cpu;

	if (sched_getaffinity(0, sizeof(set), &set))
		return -1;
	for (cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
		if (CPU_ISSET(cpu, &set))
			return cpu;
	return -1;
}
