"""Words of kernels, hardware and tools, which name no machine of anybody; a fact keeps these of its words alone."""

# As engines name them (ethtool, and what the kernel lets them do).
OFFLOADS = frozenset({"rx_checksum", "tx_checksum", "scatter_gather", "tso", "gso", "gro", "lro"})
FEATURES = frozenset(
    {"icmp_probes", "udp_segmentation", "udp_receive_offload", "tcp_limited_times", "tcp_zerocopy", "bound_device"}
)
SYSCTLS = frozenset(
    {f"net.core.{name}" for name in ("default_qdisc", "netdev_budget", "netdev_max_backlog", "somaxconn")}
    | {f"net.core.{end}mem_{which}" for end in "rw" for which in ("default", "max")}
    | {f"net.ipv4.tcp_{name}" for name in ("mtu_probing", "rmem", "wmem", "timestamps", "window_scaling")}
    | {"net.ipv4.ip_local_port_range"}
)

_CONGESTION_CONTROLS = (
    "reno cubic bbr bbr2 bbr3 bic cdg dctcp highspeed htcp hybla illinois lp nv scalable vegas veno westwood yeah"
)
_QUEUES = "pfifo pfifo_fast bfifo fq fq_codel codel cake sfq mq mqprio noqueue"
_GOVERNORS = "performance powersave ondemand conservative schedutil userspace"
_CLOCKS = "tsc hpet acpi_pm jiffies kvm-clock xen arch_sys_counter hyperv_clocksource_tsc_page"
_ARCHITECTURES = "x86_64 i686 aarch64 armv7l ppc64le s390x riscv64 loongarch64"
_VIRTUALISATIONS = (
    "none kvm qemu xen vmware microsoft oracle amazon google bochs parallels bhyve docker podman lxc lxc-libvirt "
    "openvz systemd-nspawn containerd kubernetes container wsl"
)
_DRIVERS = (
    "virtio_net veth bridge bonding tun vxlan ipvlan macvlan dummy ena gve hv_netvsc mana mlx4_en mlx5_core ixgbe "
    "ixgbevf i40e iavf ice igb igc e1000 e1000e r8169 tg3 bnx2x bnxt_en cxgb4 nfp qede sfc thunderx xen-netfront "
    "vmxnet3 vif erdma"
)
_FILESYSTEMS = "ext2 ext3 ext4 xfs btrfs zfs f2fs tmpfs overlay nfs nfs4 block device"
_SYSTEMS = (
    "Debian GNU/Linux Ubuntu LTS Alibaba Cloud Linux Alpine Amazon AlmaLinux Anolis Arch CentOS Stream Fedora "
    "openEuler openSUSE Leap Oracle Server Red Hat Enterprise Rocky SUSE Container-Optimized OS"
)
_PROCESSORS = (
    "Intel(R) Xeon(R) Core(TM) Atom(TM) Pentium(R) Celeron(R) Platinum Gold Silver Bronze Processor CPU @ v2 v3 v4 "
    "AMD EPYC Ryzen Opteron(tm) ARM Cortex Neoverse-N1 Neoverse-N2 Neoverse-V1 Neoverse-V2 Kunpeng Hygon Ampere Altra"
)
_TOOLS = (
    "benchweb native fio iperf2 iperf3 netperf qperf sockperf uperf nuttcp ntttcp perftest flent wrk wrk2 ab hey oha "
    "ping fping mtr sar mbw stream sysbench"
)

WORDS = frozenset(
    word
    for words in (
        *(_CONGESTION_CONTROLS, _QUEUES, _GOVERNORS, _CLOCKS, _ARCHITECTURES, _VIRTUALISATIONS, _DRIVERS),
        *(_FILESYSTEMS, _SYSTEMS, _PROCESSORS, _TOOLS),
    )
    for word in words.split()
)
