//! A Slurm cluster of this machine, or a stand-in for `sbatch` where it cannot be started.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::harness::{is_too_slow, skip};

use super::scene::Scene;

/// The daemons of a cluster, which end when this is dropped.
pub(super) struct Slurm(PathBuf);

/// What `sbatch --wait` does for a job array, in one process.
const STAND_IN: &str = r#"#!/bin/sh
array=
while case ${1-} in --array=*) array=${1#--array=} ;; -*) ;; *) false ;; esac; do shift; done
script=$1
shift
: "${array:=$(sed -n 's/^#SBATCH --array=//p' "$script")}"
output=$(sed -n 's/^#SBATCH --output=//p' "$script")
echo Submitted batch job 1
failed=0
for items in $(echo "$array" | tr , ' '); do
    for task in $(seq "${items%-*}" "${items#*-}"); do
        SLURM_ARRAY_TASK_ID=$task sh "$script" "$@" >> "$(echo "$output" | sed "s/%a/$task/")" 2>&1 || failed=1
    done
done
exit $failed
"#;

impl Slurm {
    /// Starts a cluster, and makes `sbatch` of the scene use it. Where that is not possible, `sbatch` is a stand-in that
    /// sets the variables of a task, and a line says so; with `FTK_TEST_SLURM` set, that is a failure.
    pub(super) fn start(scene: &Scene) -> Option<Self> {
        let is_quick = is_too_slow("Slurm");
        let started = if is_quick { Err("too slow".into()) } else { Self::try_start(scene) };
        match started {
            Ok(slurm) => Some(slurm),
            Err(why) => {
                let must_start = !is_quick && std::env::var_os("FTK_TEST_SLURM").is_some();
                assert!(!must_start, "Slurm does not start: {why}");
                skip(&format!("Slurm does not start ({why}): a stand-in runs the tasks"));
                scene.stand_in("sbatch", STAND_IN);
                None
            }
        }
    }

    fn try_start(scene: &Scene) -> Result<Self, String> {
        if !rustix::process::getuid().is_root() {
            return Err("only root can".into());
        }
        let dir = scene.aside("slurm");
        for name in ["state", "spool"] {
            fs::create_dir_all(dir.join(name)).unwrap();
        }
        let slurm = Self(dir);
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let host = host.trim().split('.').next().unwrap_or_default();
        fs::write(slurm.path("munge.key"), "0123456789abcdef".repeat(8)).unwrap();
        run(Command::new("chmod").arg("600").arg(slurm.path("munge.key")))?;
        let [control, node] = free_ports();
        let dir = slurm.0.display();
        let text = format!(
            "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nNodeName={host} NodeAddr=127.0.0.1 CPUs=2\n\
             PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n\
             AuthType=auth/munge\nAuthInfo=socket={dir}/munge.sock\nCredType=cred/munge\nSlurmUser=root\n\
             SlurmctldPort={control}\nSlurmdPort={node}\nStateSaveLocation={dir}/state\nSlurmdSpoolDir={dir}/spool\n\
             SlurmctldPidFile={dir}/slurmctld.pid\nSlurmdPidFile={dir}/slurmd.pid\n\
             SlurmctldLogFile={dir}/slurmctld.log\nSlurmdLogFile={dir}/slurmd.log\n\
             ProctrackType=proctrack/pgid\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nReturnToService=2\n\
             SchedulerType=sched/builtin\nSchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0\n\
             JobCompType=jobcomp/none\nAccountingStorageType=accounting_storage/none\n\
             JobAcctGatherType=jobacct_gather/none\n"
        );
        fs::write(slurm.path("slurm.conf"), text).unwrap();
        let option = |name: &str, file: &str| format!("--{name}={}", slurm.path(file).display());
        run(Command::new("munged").arg("--force").args([
            option("key-file", "munge.key"),
            option("socket", "munge.sock"),
            option("pid-file", "munge.pid"),
            option("log-file", "munge.log"),
            option("seed-file", "munge.seed"),
        ]))?;
        for daemon in ["slurmctld", "slurmd"] {
            run(Command::new(daemon).arg("-f").arg(slurm.path("slurm.conf")))?;
        }
        slurm.wait()?;
        let conf = slurm.path("slurm.conf");
        let sbatch = format!("#!/bin/sh\nSLURM_CONF='{}' exec /usr/bin/sbatch \"$@\"\n", conf.display());
        scene.stand_in("sbatch", &sbatch);
        Ok(slurm)
    }

    /// Waits until the node is ready.
    fn wait(&self) -> Result<(), String> {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(60) {
            let mut command = Command::new("sinfo");
            let command = command.args(["-h", "-o", "%T"]).env("SLURM_CONF", self.path("slurm.conf"));
            if command.output().is_ok_and(|output| output.stdout == b"idle\n") {
                return Ok(());
            }
            sleep(Duration::from_millis(100));
        }
        Err("the node does not become idle".into())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for name in ["slurmd.pid", "slurmctld.pid", "munge.pid"] {
            if let Ok(pid) = fs::read_to_string(self.path(name)) {
                _ = Command::new("kill").arg(pid.trim()).status();
            }
        }
    }
}

/// Runs a command that starts a daemon. The daemon must not hold a pipe of ours.
fn run(command: &mut Command) -> Result<(), String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}

/// Returns ports that nothing uses now.
fn free_ports() -> [u16; 2] {
    let bind = || TcpListener::bind("127.0.0.1:0").unwrap();
    [bind(), bind()].map(|port| port.local_addr().unwrap().port())
}
