//! Links around paths (OSC 8), which terminals can open.

use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;

use crate::globals::When;
use crate::stdout::Stdout;

/// Writes links to files of this machine.
#[derive(Debug)]
pub(super) struct Hyperlinks {
    /// `file://` and the name of this machine.
    host: Vec<u8>,
    /// The working directory, with a slash at its end.
    working_dir: Vec<u8>,
}

impl Hyperlinks {
    /// Returns the writer if links are wanted and the working directory still has a path, which they need.
    pub(super) fn wanted(when: When) -> Option<Self> {
        let is_wanted = match when {
            When::Always => true,
            When::Never => false,
            When::Auto => Stdout::is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
        };
        if !is_wanted {
            return None;
        }
        let mut working_dir = std::env::current_dir().ok()?.as_os_str().as_bytes().to_vec();
        if !working_dir.ends_with(b"/") {
            working_dir.push(b'/');
        }
        let mut host = b"file://".to_vec();
        push_encoded(&mut host, rustix::system::uname().nodename().to_bytes());
        Some(Self { host, working_dir })
    }

    /// Appends the beginning of a link to `path`.
    pub(super) fn begin(&self, out: &mut Vec<u8>, path: &[u8]) {
        out.extend_from_slice(b"\x1b]8;;");
        out.extend_from_slice(&self.host);
        if !path.starts_with(b"/") {
            push_encoded(out, &self.working_dir);
        }
        push_encoded(out, path);
        out.extend_from_slice(b"\x1b\\");
    }

    /// Appends the end of a link.
    pub(super) fn end(out: &mut Vec<u8>) {
        out.extend_from_slice(b"\x1b]8;;\x1b\\");
    }
}

/// Appends bytes as a part of a URI. So nothing in a name can end the link or act on the terminal.
fn push_encoded(out: &mut Vec<u8>, bytes: &[u8]) {
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(byte);
        } else {
            let _ = write!(out, "%{byte:02X}"); // writing to a Vec cannot fail
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_that_is_not_plain_is_encoded() {
        let links = Hyperlinks { host: b"file://h".to_vec(), working_dir: b"/w d/".to_vec() };
        let mut out = Vec::new();
        links.begin(&mut out, b"a\x1b\\\xff;%\n");
        Hyperlinks::end(&mut out);
        links.begin(&mut out, b"/x");
        assert_eq!(
            out,
            b"\x1b]8;;file://h/w%20d/a%1B%5C%FF%3B%25%0A\x1b\\\x1b]8;;\x1b\\\x1b]8;;file://h/x\x1b\\"
        );
    }
}
