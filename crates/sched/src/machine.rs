//! Identifies the machine and the program that a calibration is valid for.

use std::fs;

/// Returns the machine and the program as one line of text: kind of CPU, kernel release, version of ftk.
///
/// The kind of CPU comes from the alias by which the kernel loads CPU drivers. `/proc/cpuinfo` has nicer
/// names, but up to Linux 5.18 opening it may sleep 10 ms to measure the clock of each CPU.
pub(crate) fn machine() -> String {
    let alias = fs::read_to_string("/sys/devices/system/cpu/modalias").unwrap_or_default();
    let uname = rustix::system::uname();
    let release = uname.release().to_string_lossy();
    format!("{}; {}; ftk {}", cpu_of(&alias), one_line(&release), env!("CARGO_PKG_VERSION"))
}

/// Returns the vendor, family and model from an alias such as
/// `cpu:type:x86,ven0000fam0006mod008F:feature:,0000,0001`.
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
    fn the_kind_of_cpu_is_extracted_from_the_alias() {
        assert_eq!(
            cpu_of("cpu:type:x86,ven0000fam0006mod008F:feature:,0000,0001\n"),
            "x86,ven0000fam0006mod008F"
        );
        assert_eq!(cpu_of("cpu:type:aarch64\n"), "aarch64");
        assert_eq!(cpu_of(""), std::env::consts::ARCH);
    }

    #[test]
    fn the_machine_line_is_stable_and_a_single_line() {
        assert_eq!(machine(), machine());
        assert_eq!(machine().lines().count(), 1);
        assert!(machine().ends_with(env!("CARGO_PKG_VERSION")));
    }
}
