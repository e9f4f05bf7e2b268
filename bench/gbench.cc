// SPDX-License-Identifier: GPL-2.0
/*
 * The workloads as people write them for google/benchmark: what "make bench"
 * holds mprotect_perf against. Nothing is checked here, phases are not split,
 * and the result is a mean.
 */
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

struct workload {
	size_t bytes;
	size_t regions;
	int flags;
	const char *path;
	int shut;
	bool write_touch;
	bool read_touch;
};

std::vector<char *> map(const workload &w, size_t page)
{
	int fd = w.path ? open(w.path, O_RDONLY) : -1;
	size_t stride = w.bytes + page;
	char *area = static_cast<char *>(mmap(nullptr, stride * w.regions, PROT_NONE,
					      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	std::vector<char *> region;

	for (size_t i = 0; i < w.regions; i++) {
		char *p = area + i * stride;

		if (mmap(p, w.bytes, PROT_READ | PROT_WRITE, w.flags | MAP_FIXED, fd, 0) ==
		    MAP_FAILED)
			abort();
		madvise(p, w.bytes, MADV_NOHUGEPAGE);
		for (size_t off = 0; off < w.bytes; off += page)
			p[off] = 1;
		region.push_back(p);
	}
	return region;
}

void run(benchmark::State &state, workload w)
{
	const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));

	if (!w.bytes)
		w.bytes = page;
	std::vector<char *> region = map(w, page);

	for (auto _ : state) {
		for (char *p : region)
			if (mprotect(p, w.bytes, w.shut))
				abort();
		for (char *p : region)
			if (mprotect(p, w.bytes, PROT_READ | PROT_WRITE))
				abort();
		for (char *p : region)
			for (size_t off = 0; off < w.bytes && (w.write_touch || w.read_touch);
			     off += page) {
				if (w.write_touch)
					p[off] = 1;
				else
					benchmark::DoNotOptimize(*const_cast<volatile char *>(&p[off]));
			}
		benchmark::ClobberMemory();
	}
}

const int anon = MAP_PRIVATE | MAP_ANONYMOUS;

BENCHMARK_CAPTURE(run, shared-dirty, workload{64 << 20, 1, MAP_SHARED | MAP_ANONYMOUS, nullptr,
					      PROT_READ, true, false})->UseRealTime();
BENCHMARK_CAPTURE(run, private-none, workload{64 << 20, 1, anon, nullptr, PROT_NONE, false, false})->UseRealTime();
BENCHMARK_CAPTURE(run, devzero-none, workload{4 << 20, 1, MAP_PRIVATE, "/dev/zero", PROT_NONE,
					      false, true})->UseRealTime();
BENCHMARK_CAPTURE(run, one-page, workload{0, 512, anon, nullptr, PROT_READ, true, false})->UseRealTime();

} // namespace

BENCHMARK_MAIN();
