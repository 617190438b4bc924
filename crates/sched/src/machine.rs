//! What a calibration is valid for.

use std::fs;

/// The machine and the program, as one line of text: kind of CPU, release of the kernel, version of ftk.
///
/// The kind of CPU comes from the alias by which the kernel loads drivers for it. `/proc/cpuinfo` has nicer
/// names, but up to Linux 5.18 opening it may sleep 10 ms to sample the clock of each CPU.
pub(crate) fn machine() -> String {
    let alias = fs::read_to_string("/sys/devices/system/cpu/modalias").unwrap_or_default();
    let uname = rustix::system::uname();
    let release = uname.release().to_string_lossy();
    format!("{}; {}; ftk {}", cpu_of(&alias), one_line(&release), env!("CARGO_PKG_VERSION"))
}

/// The vendor, family and model in an alias like `cpu:type:x86,ven0000fam0006mod008F:feature:,0000,0001`.
fn cpu_of(alias: &str) -> String {
    let kind = alias.strip_prefix("cpu:type:").and_then(|rest| rest.split(':').next());
    kind.map_or_else(|| std::env::consts::ARCH.to_owned(), one_line)
}

fn one_line(text: &str) -> String {
    text.trim().replace(char::is_control, "?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_cpu_is_cut_out_of_the_alias() {
        assert_eq!(
            cpu_of("cpu:type:x86,ven0000fam0006mod008F:feature:,0000,0001\n"),
            "x86,ven0000fam0006mod008F"
        );
        assert_eq!(cpu_of("cpu:type:aarch64\n"), "aarch64");
        assert_eq!(cpu_of(""), std::env::consts::ARCH);
    }

    #[test]
    fn the_machine_stays_the_same_and_is_one_line() {
        assert_eq!(machine(), machine());
        assert_eq!(machine().lines().count(), 1);
        assert!(machine().ends_with(env!("CARGO_PKG_VERSION")));
    }
}
