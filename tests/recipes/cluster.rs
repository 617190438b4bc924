//! The commands and scripts of `docs/cluster.md`.

use crate::harness::{Dir, headings, needs};

use super::page::CLUSTER;
use super::scene::Scene;
use super::session::run;
use super::slurm::Slurm;

/// `kubectl` for a job in one file: runs the containers of all indexes here, with the volumes as folders of the home
/// directory.
const KUBECTL: &str = r#"#!/usr/bin/python3
import os, subprocess, sys, yaml
home, fake = os.environ["HOME"], os.environ["FAKE"]
if sys.argv[1:3] == ["apply", "-f"]:
    job = yaml.safe_load(open(sys.argv[3]))
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    name, spec = job["metadata"]["name"], job["spec"]
    assert spec["completionMode"] == "Indexed"
    pod = spec["template"]["spec"]
    assert pod["restartPolicy"] in ("OnFailure", "Never")
    folders = {it["name"]: it["persistentVolumeClaim"]["claimName"] for it in pod["volumes"]}
    [container] = pod["containers"]
    [script] = container["args"]
    for it in container["volumeMounts"]:
        script = script.replace(it["mountPath"], f"{home}/{folders[it['name']]}")
    ends = []
    for index in range(spec["completions"]):
        environment = {**os.environ, "JOB_COMPLETION_INDEX": str(index)}
        ends.append(subprocess.run([*container["command"], script], env=environment).returncode)
    open(f"{fake}/{name}", "w").write("met" if not any(ends) else f"failed: {ends}")
    print(f"job.batch/{name} created")
elif sys.argv[1:3] == ["wait", "--for=condition=complete"]:
    name = sys.argv[-1].removeprefix("job/")
    state = open(f"{fake}/{name}").read()
    print(f"job.batch/{name} condition {state}")
    sys.exit(state != "met")
else:
    sys.exit(f"unknown: {sys.argv}")
"#;

/// `ssh` to hosts that have the same home directory.
const SSH: &str = r#"#!/bin/sh
while [ "${1#-}" != "$1" ]; do case $1 in -o | -l | -p) shift 2 ;; *) shift ;; esac; done
echo "$1" >> "$FAKE/hosts"
shift
[ "$1" != -- ] || shift
cd "$HOME" && SHELL=/bin/sh exec sh -c "$*"
"#;

/// Runs the page from its first command to the last, as a reader with only a directory `archive` does.
#[test]
fn every_command_works_as_printed() {
    needs!("script", "yaml", "parallel");
    let scene = Scene::new(Dir::on_disk()); // shards need reliable inode numbers
    scene.files("archive");
    scene.stand_in("kubectl", KUBECTL);
    scene.stand_in("ssh", SSH);
    scene.folder(".parallel");
    scene.file(".parallel/will-cite", b"");
    let _slurm = Slurm::start(&scene);
    for heading in ["The plan", "Slurm", "Kubernetes", "GNU parallel over ssh", "Next time"] {
        run(&scene, CLUSTER, heading);
    }
    let hosts = scene.fake("hosts").expect("the shards ran on other hosts");
    assert!(hosts.contains("node1\n") && hosts.contains("node2\n"), "{hosts}");
}

#[test]
fn every_section_with_commands_has_a_test() {
    let expected =
        ["The plan", "Slurm", "Kubernetes", "GNU parallel over ssh", "Next time", "How long it takes"];
    assert_eq!(headings(&CLUSTER.text()), expected);
}
