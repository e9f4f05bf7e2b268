# SPDX-License-Identifier: GPL-2.0
# What run_vmtests.sh gains; "$@" is what follows "--" on its command line.
#@ before ^- mremap$
- mprotect
	mprotect_perf: is mprotect(2) right and, with options, what does it cost
#@ before ^CATEGORY="mremap" run_test \./mremap_test$
CATEGORY="mprotect" run_test ./mprotect_perf "$@"

