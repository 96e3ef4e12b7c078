/* Whether KVM runs guests here. Declared in boot.h.
 *
 * A device node proves nothing, and neither does a virtual machine that runs a
 * handful of instructions: on a host without the processor's help (kvm_pvm in a
 * cloud's guest) the kernel interprets them one by one, so that a small program
 * ends well and a BIOS never does. So the probe counts two million down in
 * 64-bit mode: a millisecond or two in hardware, nested too, and seconds
 * otherwise. What it may use is processor time, so that a loaded host does not
 * look like one that interprets. */
#include "boot.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CODE = 0x1000,
	PML4 = 0x2000,
	PDPT = 0x3000,
	DIRECTORY = 0x4000,
	MEMORY = 0x8000,
	CPU_US = 50000,
	DEADLINE_S = 1,
};

/* mov $2000000, %ecx; 1: dec %ecx; jnz 1b; hlt */
static const unsigned char program[] = { 0xb9, 0x80, 0x84, 0x1e, 0x00,
					 0xff, 0xc9, 0x75, 0xfc, 0xf4 };

struct cpuid {
	struct kvm_cpuid2 head;
	struct kvm_cpuid_entry2 entries[256];
};

/* The program, and page tables that map the lowest 2 MiB to themselves. */
static unsigned char *make_memory(int vm)
{
	unsigned char *m = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct kvm_userspace_memory_region r = { .memory_size = MEMORY,
						 .userspace_addr =
							 (uintptr_t)m };
	const uint64_t next[] = { PDPT | 3, DIRECTORY | 3, 0x83 };

	if (m == MAP_FAILED)
		return NULL;
	memcpy(m + CODE, program, sizeof(program));
	memcpy(m + PML4, &next[0], 8);
	memcpy(m + PDPT, &next[1], 8);
	memcpy(m + DIRECTORY, &next[2], 8);
	return ioctl(vm, KVM_SET_USER_MEMORY_REGION, &r) ? NULL : m;
}

static int set_registers(int kvm, int vcpu)
{
	static struct cpuid id = { .head.nent = ARRAY_SIZE(id.entries) };
	struct kvm_segment code = { .limit = 0xffffffff,
				    .selector = 8,
				    .type = 11,
				    .present = 1,
				    .s = 1,
				    .l = 1,
				    .g = 1 };
	struct kvm_segment data = { .limit = 0xffffffff,
				    .selector = 16,
				    .type = 3,
				    .present = 1,
				    .s = 1,
				    .db = 1,
				    .g = 1 };
	struct kvm_regs regs = { .rip = CODE, .rsp = MEMORY, .rflags = 2 };
	struct kvm_sregs s;

	if (ioctl(kvm, KVM_GET_SUPPORTED_CPUID, &id) ||
	    ioctl(vcpu, KVM_SET_CPUID2, &id) || ioctl(vcpu, KVM_GET_SREGS, &s))
		return -1;
	s.cs = code;
	s.ds = s.es = s.fs = s.gs = s.ss = data;
	s.cr3 = PML4;
	s.cr4 |= 1 << 5;		/* PAE */
	s.cr0 |= 1u << 31 | 1 << 4 | 1; /* PG, ET, PE */
	s.efer |= 1 << 8 | 1 << 10;	/* LME, LMA */
	return ioctl(vcpu, KVM_SET_SREGS, &s) ||
	       ioctl(vcpu, KVM_SET_REGS, &regs);
}

static bool runs_guest(int kvm)
{
	int size = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	int vm = ioctl(kvm, KVM_CREATE_VM, 0);
	int vcpu =
		vm < 0 || !make_memory(vm) ? -1 : ioctl(vm, KVM_CREATE_VCPU, 0);
	struct kvm_run *run;

	if (size <= 0 || vcpu < 0 || set_registers(kvm, vcpu))
		return false;
	run = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu,
		   0);
	return run != MAP_FAILED && ioctl(vcpu, KVM_RUN, 0) == 0 &&
	       run->exit_reason == KVM_EXIT_HLT;
}

/* A fork of its own, although proc.c has the others: nothing is executed, and
 * only another process can be left behind in a KVM_RUN that does not come back.
 * The timers end it; its virtual machine goes with it. */
bool boot_kvm_works(void)
{
	const struct itimerval cpu = { .it_value.tv_usec = CPU_US };
	AUTOFD int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	int status;
	pid_t pid;

	if (kvm < 0 || ioctl(kvm, KVM_GET_API_VERSION, 0) != KVM_API_VERSION)
		return false;
	pid = fork();
	if (pid < 0)
		return false;
	if (pid == 0) {
		signal(SIGALRM, SIG_DFL);
		signal(SIGPROF, SIG_DFL);
		setitimer(ITIMER_PROF, &cpu, NULL);
		alarm(DEADLINE_S);
		_exit(runs_guest(kvm) ? 0 : 1);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
