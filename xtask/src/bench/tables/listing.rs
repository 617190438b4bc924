//! Listing a tree, what uses its space, and the cost of commands with almost no work.

use std::fs;

use anyhow::Result;

use crate::bench::cache::Cache;
use crate::bench::commands::Commands;
use crate::bench::context::Context;
use crate::bench::record::Section;
use crate::bench::shape;
use crate::bench::tree::Tree;

/// Every search lists regular files. GNU find is the first of the peers, because its result is the reference. It has
/// one thread; the others support `-j4`.
pub(super) const FILES: &str = "
# {title} [lines]
ftk {threads} find --type f {tree}
find {tree} -type f
bfs {threads} {tree} -type f
fd {threads} --no-ignore --hidden --case-sensitive --type f . {tree}
rg {threads} --no-config --files --no-ignore --hidden {tree}
[getdents64 loop] xtask bench floor {tree} {jobs}
";

const EXTENSIONS: &str = "
# {title} [lines]
ftk find --type f {extension} {tree}
find|bfs {tree} -type f ( {iname} )
fd --no-ignore --hidden --case-sensitive --type f {extension} . {tree}
rg --no-config --files --no-ignore --hidden {iglob} {tree}
";

/// The glob matches some of the names in every tree. `+` of fd means "at least".
const OTHERS: &str = "
# named `*e*1*` [lines]
ftk find --type f --name *e*1* {tree}
find|bfs {tree} -type f -name *e*1*
fd --no-ignore --hidden --case-sensitive --type f --glob *e*1* {tree}
rg --no-config --files --no-ignore --hidden --glob *e*1* {tree}

# count only [lines]
ftk find --type f --count {tree}
find|bfs {tree} -type f | wc -l
fd --no-ignore --hidden --case-sensitive --type f . {tree} | wc -l
rg --no-config --files --no-ignore --hidden {tree} | wc -l
[getdents64 loop] xtask bench floor {tree} {jobs} --count
";

const LARGER: &str = "
# over {size} bytes [lines]
ftk find --type f --size +{size} {tree}
find|bfs {tree} -type f -size +{size}c
fd --no-ignore --hidden --case-sensitive --type f --size +{above}b . {tree}
";

pub(crate) fn warm(bench: &Context) -> Result<Vec<Section>> {
    let shapes: &[_] = if bench.options.common.quick {
        &[shape::SMALL, shape::DEEP, shape::MIXED_SMALL]
    } else {
        &[shape::SMALL, shape::MEDIUM, shape::LARGE, shape::DEEP, shape::WIDE]
    };
    let mut sections = Vec::new();
    if let Some(tree) = &bench.tree {
        sections.push(section(bench, tree)?);
    }
    for shape in shapes {
        sections.push(section(bench, &bench.shape(shape)?)?);
    }
    Ok(sections)
}

pub(crate) fn cold(bench: &Context) -> Result<Vec<Section>> {
    let Some(tree) = bench.cold_tree() else { return Ok(Vec::new()) };
    println!(" {}", tree.title);
    let groups = all(bench, tree, "all files").measure(bench.cold_clock(), tree.files, FILES)?;
    Ok(vec![Section::new(tree, Cache::Cold, groups)])
}

/// Returns the commands for [`FILES`], with the tools' own numbers of threads.
pub(super) fn all<'b>(bench: &'b Context, tree: &Tree, title: &str) -> Commands<'b> {
    Commands::on(bench, tree).with("title", title).with_all("threads", [""; 0])
}

fn section(bench: &Context, tree: &Tree) -> Result<Section> {
    println!(" {}", tree.title);
    let measure = |commands: Commands<'_>, text: &str| commands.measure(bench.clock(), tree.files, text);
    let mut groups = measure(all(bench, tree, "all files"), FILES)?;
    if let [first, _, ..] = &tree.extensions[..] {
        for extensions in [std::slice::from_ref(first), &tree.extensions] {
            groups.extend(measure(with_extensions(Commands::on(bench, tree), extensions), EXTENSIONS)?);
        }
    }
    groups.extend(measure(Commands::on(bench, tree), OTHERS)?);
    let started = all(bench, tree, "all files, started by a shell");
    groups.extend(measure(started, &FILES.replace("[lines]", "[lines, shell]"))?);
    groups.extend(measure(Commands::on(bench, tree), LARGER)?);
    Ok(Section::new(tree, Cache::Warm, groups))
}

/// Adds the values of [`EXTENSIONS`].
fn with_extensions<'b>(commands: Commands<'b>, names: &[String]) -> Commands<'b> {
    let each = |option: &str, glob: &str, joint: &str| {
        let options: Vec<_> = names.iter().map(|name| format!("{option} {glob}{name}")).collect();
        options.join(joint).split(' ').map(str::to_owned).collect::<Vec<_>>()
    };
    let title: Vec<_> = names.iter().map(|name| format!("`.{name}`")).collect();
    let commands =
        commands.with("title", title.join(" ")).with_all("extension", each("--extension", "", " "));
    commands.with_all("iname", each("-iname", "*.", " -o ")).with_all("iglob", each("--iglob", "*.", " "))
}

/// bfs has the arguments of GNU find, and its `-s` sorts each directory. A search that examines the same files without
/// sorting them shows the cost of sorting. `tail` reads to the end; `head` would end `sort` with a signal. Which of
/// several files of one size are listed differs between tools.
const EXPRESSIONS: &str = r#"
# two names [lines]
ftk find --where 'name = "*.{first}" or name = "*.{second}"' {tree}
[ftk with options] ftk find -n *.{first} -n *.{second} {tree}
find|bfs {tree} -name *.{first} -o -name *.{second}

# none of two names [lines]
ftk find --where 'type = f and name not in ("*.{first}", "*.{second}")' {tree}
find|bfs {tree} -type f ! -name *.{first} ! -name *.{second}

# size, and a name [lines]
ftk find --where 'type = f and size > {size} and name = "*.{first}"' {tree}
find|bfs {tree} -type f -size +{size}c -name *.{first}

# size or owner [lines]
ftk find --where 'type = f and (size > {size} or not user = 0)' {tree}
find|bfs {tree} -type f ( -size +{size}c -o ! -user 0 )

# permissions [lines]
ftk find --where 'type = f and perm = -444 and not perm = /111' {tree}
find|bfs {tree} -type f -perm -444 ! -perm /111

# time, and no link [lines]
ftk find --where 'mtime >= 2020-01-01T00:00:01Z and not type = l' {tree}
find|bfs {tree} -newermt 2020-01-01T00:00:00Z ! -type l

# regular expression [lines]
ftk find --where 'name ~ "e.*1"' {tree}
find|bfs {tree} -regextype posix-extended -regex .*/[^/]*e[^/]*1[^/]*

# directories that are not entered [lines]
ftk find --where 'name = "*.{first}"' {tree} --exclude-where 'type = d and name = "*1*"'
find|bfs {tree} -mindepth 1 ( -type d -name *1* -prune -o -name *.{first} -print )

# sorted by path [lines]
ftk find --sort {tree}
bfs -s {tree}
[ftk without sorting] ftk find {tree}

# the 10 largest files
ftk find -t f --sort=size --reverse --max-results 10 {tree}
[ftk without sorting] ftk find -t f -S +0 {tree}
[find, sort, tail] find {tree} -type f -printf %s\t%p\n | sort -n | tail
"#;

pub(crate) fn expressions(bench: &Context) -> Result<Vec<Section>> {
    bench.sections(&[shape::LARGE, shape::MIXED], EXPRESSIONS)
}

/// In the group "sum" each tool has its own format. All count allocated space; dust, dua and diskus count hard links
/// once.
const SPACE: &str = "
# sum, compared [lines]
ftk du -s {tree}
du -s --block-size=1 {tree}

# sum of sizes, compared [lines]
ftk du -s --apparent-size {tree}
du -s --apparent-size --block-size=1 {tree}

# sum
ftk du -s {tree}
du -s {tree}
dust -P -d 0 {tree}
dua aggregate {tree}
gdu -n -p -s {tree}
pdu --quantity=block-size --max-depth=1 {tree}
diskus {tree}

# the largest directories
ftk du {tree}
du {tree}
dust -P -n 20 {tree}
pdu --quantity=block-size {tree}

# the whole tree for ncdu
ftk du --format ncdu {tree}
ncdu -0 -o- {tree}
gdu -n -p -o- {tree}
";

pub(crate) fn space(bench: &Context) -> Result<Vec<Section>> {
    bench.sections(&[shape::LARGE, shape::DEEP], SPACE)
}

const VERSION: &str = "
# `--version`
ftk|sha256sum|fd --version
";

const ONE_FILE: &str = "
# one file of 3 bytes [sums]
ftk hash {tiny}
sha256sum {tiny}
openssl dgst -sha256 {tiny}
";

pub(crate) fn startup(bench: &Context) -> Result<Vec<Section>> {
    let tiny = bench.scratch.path("tiny");
    fs::write(&tiny, "abc")?;
    let commands = Commands::new(bench).with("tiny", &tiny);
    let mut groups = commands.measure(bench.clock(), 0, VERSION)?;
    groups.extend(commands.measure(bench.clock(), 1, ONE_FILE)?);
    Ok(vec![Section::without_tree("small work", &tiny, groups)])
}
