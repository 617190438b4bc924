//! The page of `ftk help coming-from`, in Markdown.

use std::fmt::Write as _;

use super::table::{ALIASES, Row, TABLE, TOOLS};

const TOP: &str = "\
# Coming from find, fd, du, ncdu, dust, fdupes, jdupes, rdfind, czkawka, fclones, rmlint, hashdeep, diff, cmp, AIDE, CIS, ascmhl, par2, SnapRAID, BagIt, rg, rsync

This page lists options of other tools and their equivalents in ftk. ftk rejects an option of another tool with
status 2, and the message gives its equivalent. **Careful** marks a letter that means another option in ftk: unless its
value shows what you mean, ftk treats it as its own option. Options that mean the same in both are not listed.
`ftk help coming-from fd` prints the section about one tool.
";

/// What a table of options cannot say.
const AIDE: &str = "
What AIDE compares by its group `R` is `p+ftype+i+l+n+u+g+s+m+c+md5+X`, where `X` is `acl+selinux+xattrs+caps+e2fsattrs`.
`ftk manifest verify` and `diff` compare these by default:

| in ftk | AIDE |
|---|---|
| mode, type, owner, group, target of a link; the size of regular files | `p`, `ftype`, `u`, `g`, `l`, `s` |
| the mtime, except of directories | `m` |
| SHA-256, or the algorithms of `--algorithm` | `md5` and other digests |
| all extended attributes | `acl`, `selinux`, `xattrs`, `caps` |
| which paths are hard links of each other, instead of their number | `n` |
| inode and ctime are recorded and not compared, so that a copy verifies | `i`, `c` |
| attributes of `chattr` are not recorded | `e2fsattrs` |

A group without digests is `--mode metadata`, and `--ignore` excludes single fields. What differs by path is a rule in a file
for `ftk manifest create --rules FILE`: a line `CHECK GLOB`, for what the glob matches and all below it. The last rule
decides, where AIDE takes the deepest and first one. Globs are no regular expressions, and relative to ROOT: with ROOT `/` or a
copy of it, `/var/log` is the same as for AIDE. [The format](manifest-format.md#rules-by-path) says what each check compares.

| AIDE | rule in ftk |
|---|---|
| `/etc R`, and other groups with `p`, `u`, `g`, `m` and a digest | `all /etc`, which is the default |
| a digest alone: `md5`, `sha1`, `sha256`, `sha512` or another one | `content /etc`; `create --algorithm` chooses digests for all files |
| `L` (`p+ftype+i+l+n+u+g+X`), and other groups without digests | `metadata /etc`, which compares size and mtime too |
| `>` (`p+ftype+l+u+g+i+n+s+growing+X`), `growing` with a digest, `S` | `growing /var/log`: mode, owner, links and attributes are compared, and always the recorded bytes; mtime is not |
| `ftype`, `E` (nothing) | `exists /etc` |
| `!/var/cache` | `ignore /var/cache` |
| `=/tmp$` (the directory, not what is below it) | `ignore /tmp/*` |
| `ANF`, `ARF` (new or removed files are no difference) | none: `verify` reports `new` and `missing` files, with every check |
| `I`, `compressed` (logs that are renamed or compressed) | none: `verify` reports them as `moved`, or as `missing` and `new`; `update --accept PATH` accepts the new log |
| `p`, `u`, `g`, `l`, `n`, `s`, `m`, `X`, `acl`, `selinux`, `xattrs`, `caps` in other combinations | none by path: `verify --ignore` excludes fields for all entries |
| `i`, `c`, `b` | none: inode, ctime and blocks are recorded and never compared, so that a copy verifies |
| `a`, `e2fsattrs` | none: not recorded |
| `/etc f R`, `/etc d R` (only files, only directories) | none; a slash at the end of a glob restricts it to directories, and what is below them |

Both report the same paths, with these exceptions: AIDE also reports a directory in which an entry was added or removed, if its
group has `m`, and the old names of a file that got another hard link. [Check a system every
night](recipes.md#check-a-system-every-night-coming-from-aide) has rules, a log, and the review.

`--limit` checks a part of the database. `ftk manifest verify /etc/ssl etc.jsonl` checks the part of a manifest of `/etc`,
and `--path`, `-E`, `--where` and `--exclude-where` select other parts. `ftk find --from etc.jsonl` lists entries of a
manifest with all filters of `find`, such as `--perm /6000`.
";

/// What auditors ask for.
const CIS: &str = "## CIS

The CIS benchmarks for Linux ask in section 6.1 for files that everyone may write, that belong to no user or group, or that
run with the rights of others. `-x` stays on one file system: run a command for each that `df --local` lists. As root,
nothing is unreadable; the exit status is 2 if something was.

| find, getcap | in ftk |
|---|---|
| `find / -xdev -type f -perm -0002` | `ftk find -x -t f --perm -o+w /` |
| `find / -xdev -nouser` | `ftk find -x --nouser /` |
| `find / -xdev -nogroup` | `ftk find -x --nogroup /` |
| `find / -xdev -type d -perm -0002 ! -perm -1000` | `ftk find -x -t d --where 'perm = -o+w and perm != -1000' /` |
| `find / -xdev -type f -perm -4000` | `ftk find -x -t f --perm -u+s /` |
| `find / -xdev -type f -perm -2000` | `ftk find -x -t f --perm -g+s /` |
| `find / -xdev -type f -perm /6000` | `ftk find -x -t f --perm /u+s,g+s /` |
| `getcap -r /` | `ftk find -x --where capable /` |
| `find / -xdev -type l -lname '/tmp/*'` | `ftk find -x --where 'target = \"/tmp/*\"' /` |

`--json` prints the owner, group and mode of each. A symbolic mode without `-` or `/`, such as `--perm o+w`, matches files
that have exactly these bits, as in find.
";

/// What users of film hash lists do.
const ASCMHL: &str = "## ascmhl

ftk reads and continues the histories that `ascmhl` keeps in a directory, here `A001`, and film hash lists of version 1.1.

| ascmhl | in ftk |
|---|---|
| `ascmhl-debug verify A001` | `ftk hash --check --new A001` |
| `ascmhl-debug verify -sf A001/x A001` | `ftk hash --check --only x A001` |
| `ascmhl-debug verify -pl LIST A001` | `ftk hash --check --root A001 LIST` |
| `ascmhl-debug verify -dh A001` | `ftk hash --check A001`, which compares directory hashes with the digests of their files |
| `ascmhl diff A001` | `ftk hash --check --new A001`, which also reads the files |
| `ascmhl create -h xxh128 A001` | `ftk manifest create -a xxh128 A001 -o M`, then `ftk manifest export --format ascmhl M -o A001` |
| `ascmhl create -dr A001` | ftk does not write renamed files into a history: `ftk manifest verify` reports them |
| `ascmhl info A001` | ftk does not print who made a generation |
| `mhl verify -f LIST` | `ftk hash --check LIST` |
| `mhl seal A001` | `ftk hash --format mhl A001 -o A001/A001.mhl` |
";

/// What users of parity do.
const PAR2: &str = "## par2

A manifest, here `M`, records the tree, and a parity file `P` protects its contents. Files may be renamed. Only recovery
data is in `P`, and the manifest; damage in `P` itself is survived.

| par2 | in ftk |
|---|---|
| `par2 create -r5 -R A.par2 A` | `ftk manifest create A -o M`, then `ftk manifest protect A M -o P --redundancy 5%` |
| `par2 create` again, after changes | `ftk manifest update A M -o M --parity P` |
| `par2 verify A.par2` | `ftk manifest verify A M`, and `ftk manifest verify --parity P` for the parity itself |
| `par2 repair A.par2` | `ftk manifest repair A M --from P`, which prints a plan; `--yes`, and `--missing` for files that are gone |
| `-s`, `-b` | ftk chooses the length of blocks |
| `-n`, `-l` | one file: there are no volumes |
| `-m` | `--memory` |
";

/// What users of disks in an array do.
const SNAPRAID: &str = "## SnapRAID

SnapRAID protects whole disks against each other. ftk protects one tree against rot and lost files, as far as the
redundancy suffices, and does not replace a lost disk. `M` is a manifest of the tree `A`, and `P` its parity file.

| SnapRAID | in ftk |
|---|---|
| `snapraid sync` | `ftk manifest create A -o M` and `ftk manifest protect A M -o P`, and from then on `ftk manifest update A M -o M --parity P` |
| `snapraid scrub -p 10` | `ftk manifest scrub A M`, a part of the tree each night |
| `snapraid check` | `ftk manifest verify A M`, and `ftk manifest verify --parity P` |
| `snapraid fix`, `fix -m` | `ftk manifest repair A M --from P --missing`, which prints a plan; `--yes` |
| `snapraid fix -f FILE` | `ftk manifest repair A M --from P --path FILE` |
| `snapraid diff` | `ftk manifest verify --mode metadata A M` |
| `snapraid dup` | `ftk dup A` |
";

/// What users of `bagit.py` do.
const BAGIT: &str = "## BagIt

| bagit.py | in ftk |
|---|---|
| `bagit.py DIR` | `ftk hash --bag --create DIR`, and `--dry-run` to see what is moved and written |
| `bagit.py --md5 DIR` | `ftk hash --bag --create -a md5 DIR` |
| `bagit.py --validate DIR` | `ftk hash --bag DIR`, which also reports what is wrong in tags |
| `bagit.py --validate --fast DIR` | none: ftk reads all files |
";

/// What users of `rg` do.
const RG: &str = "## rg

ftk finds files by names and metadata. It does not search in their contents: use `rg PATTERN`.

| rg | in ftk |
|---|---|
| `rg --files` | `ftk find -t f --no-hidden --ignore-files` |
| `rg --files --hidden --no-ignore` | `ftk find -t f` |
| `rg --files -g '*.rs'` | `ftk find -t f -n '*.rs' --no-hidden --ignore-files` |
| `rg -l PATTERN` | `ftk find -t f -0 \\| xargs -0 rg -l PATTERN --` |
";

/// What users of `rsync` do.
const RSYNC: &str = "## rsync

ftk compares trees, and copies nothing: rsync copies what ftk lists.

| rsync | in ftk |
|---|---|
| `rsync -an --delete -i A/ B/` | `ftk cmp --quick --metadata A B`, which changes neither tree |
| `rsync -anc --delete -i A/ B/` | `ftk cmp --metadata A B` |
| `rsync -rc A/ B/` | `ftk cmp --format paths -0 A B \\| rsync -aI --from0 --files-from=- A/ B/` |
| `rsync --dry-run` | omit it: `ftk cmp` only reads |
";

/// Returns the section about `tool`, or the whole page. `None` if the table has no such tool.
pub(crate) fn page(tool: Option<&str>) -> Option<String> {
    let section = |tool: &str| {
        let alias =
            ALIASES.iter().find(|(names, _)| names.iter().any(|name| name.eq_ignore_ascii_case(tool)));
        alias.map_or_else(|| tool.to_owned(), |(_, section)| (*section).to_owned())
    };
    match tool {
        Some(tool) => part(&section(tool)),
        None => Some(
            TOOLS.iter().filter_map(|tool| part(tool)).fold(TOP.into(), |page, part| page + "\n" + &part),
        ),
    }
}

fn part(tool: &str) -> Option<String> {
    let tool = *TOOLS.iter().find(|known| known.eq_ignore_ascii_case(tool))?;
    match tool {
        "CIS" => return Some(CIS.into()),
        "ascmhl" => return Some(ASCMHL.into()),
        "par2" => return Some(PAR2.into()),
        "SnapRAID" => return Some(SNAPRAID.into()),
        "BagIt" => return Some(BAGIT.into()),
        "rg" => return Some(RG.into()),
        "rsync" => return Some(RSYNC.into()),
        _ => {}
    }
    let name = |row: &&Row| row.tool.split([',', ' ']).any(|word| word == tool);
    let rows: Vec<_> = TABLE.iter().filter(name).collect();
    rows.first()?;
    let mut part = format!("## {tool}\n\n| {tool} | ftk command | in ftk |\n|---|---|---|\n");
    // Spellings of one option share a row.
    let is_same = |a: &&Row, b: &&Row| {
        (a.commands, a.here) == (b.commands, b.here) && a.differs.or(b.differs).is_none()
    };
    for rows in rows.chunk_by(is_same) {
        let row = rows[0];
        let commands = row.commands.join(", ");
        let there: Vec<_> = rows.iter().map(|row| format!("`{}`", row.there.replace('|', "\\|"))).collect();
        let careful = row.differs.map(|ours| format!("**Careful**: {} is `{ours}` in ftk; ", row.key()));
        // Writing to a String cannot fail.
        let _ = writeln!(
            part,
            "| {} | {commands} | {}{} |",
            there.join(", "),
            careful.unwrap_or_default(),
            row.here
        );
    }
    if tool == "AIDE" {
        part.push_str(AIDE);
    }
    Some(part)
}
