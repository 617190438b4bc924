"""A standalone Spark cluster on this machine: a master and workers, each a process that can be killed."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pyspark

BIN = pathlib.Path(pyspark.__file__).parent / "bin"
# Nothing listens on other addresses, and each Java process gets by with little memory.
ENVIRONMENT = {
    "PYSPARK_PYTHON": sys.executable,
    "SPARK_LOCAL_IP": "127.0.0.1",
    "SPARK_LOCAL_HOSTNAME": "127.0.0.1",
    "SPARK_DAEMON_MEMORY": "256m",
    "SPARK_DAEMON_JAVA_OPTS": "-Djava.net.preferIPv4Stack=true",
}


class Cluster:
    """A context manager. On exit it kills the processes of all sessions that it started, and no others."""

    def __init__(self, directory, n_workers=2):
        self.directory = directory
        self.n_workers = n_workers
        self.sessions = []

    def __enter__(self):
        try:
            master = self.start("master", "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
            self.url = wait_for("the master", 60, lambda: find(r"Starting Spark master at (spark://\S+)", master.log))
            worker = ["--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "1g"]
            self.workers = [
                self.start(f"worker{n}", "worker.Worker", *worker, "--work-dir", self.directory / f"work{n}", self.url)
                for n in range(self.n_workers)
            ]
            for started in self.workers:
                wait_for("a worker", 60, lambda log=started.log: find(r"Successfully registered", log))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for session in self.sessions:
            session.kill()

    def start(self, name, main, *arguments):
        """Starts a daemon of Spark in the foreground."""
        return self.run(name, BIN / "spark-class", f"org.apache.spark.deploy.{main}", *arguments)

    def submit(self, name, script, *arguments):
        """Starts spark-submit with a driver in this machine."""
        settings = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "512m",
            "spark.executor.memory": "512m",
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "2",
        }
        options = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
        return self.run(name, BIN / "spark-submit", "--master", self.url, *options, script, *arguments)

    def run(self, name, *command):
        """Starts a program in a session of its own."""
        session = Session(command, self.directory / f"{name}.log", self.directory / f"{name}.out")
        self.sessions.append(session)
        return session


class Session:
    """A program and all processes that it starts: on a real cluster, a machine."""

    def __init__(self, command, log, out):
        self.log = log
        self.out = out
        with open(log, "wb") as stderr, open(out, "wb") as stdout:
            self.process = subprocess.Popen(
                [os.fspath(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env=os.environ | ENVIRONMENT,
                start_new_session=True,
            )

    def processes(self):
        """Returns the processes of the session that still run, with the names of their programs."""
        found = {}
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                text = stat.read_text(errors="replace")
            except OSError:
                continue
            program, rest = text.split("(", 1)[1].rsplit(")", 1)
            state, _parent, _group, session = rest.split()[:4]
            if int(session) == self.process.pid and state != "Z":
                found[int(stat.parent.name)] = program
        return found

    def kill(self):
        """Kills all processes at once, as when a machine loses power, and waits for their end."""
        while processes := self.processes():
            for pid in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
        self.process.wait()

    def wait(self, seconds):
        """Returns the exit status."""
        return self.process.wait(timeout=seconds)

    def output(self):
        """Returns all output. spark-submit puts the standard error of Python programs on its standard output."""
        return self.log.read_text(errors="replace") + self.out.read_text(errors="replace")


def wait_for(what, seconds, condition):
    """Returns the first result of `condition` that is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if result := condition():
            return result
        time.sleep(0.1)
    raise AssertionError(f"waited {seconds} s for {what}")


def find(pattern, file):
    """Returns the first match in a file, its group if it has one."""
    match = re.search(pattern, file.read_text(errors="replace"))
    return match and match[match.re.groups]
