//! Listing a tree. Every tool has the options that include hidden and ignored files.

use anyhow::Result;

use crate::bench::cache::Cache;
use crate::bench::commands::Commands;
use crate::bench::context::Context;
use crate::bench::record::Section;
use crate::bench::shape;
use crate::bench::tree::Tree;

/// Every search lists regular files. GNU find is the first of the peers, because its result is the reference. It has one
/// thread; the others support `-j4`.
pub(super) const ALL: &str = "
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
    let groups = all(bench, tree, "all files").measure(bench.cold_clock(), tree.files, ALL)?;
    Ok(vec![Section::new(tree, Cache::Cold, groups)])
}

/// Returns the commands for [`ALL`], with the tools' own numbers of threads.
pub(super) fn all<'b>(bench: &'b Context, tree: &Tree, title: &str) -> Commands<'b> {
    Commands::on(bench, tree).with("title", title).with_all("threads", [""; 0])
}

fn section(bench: &Context, tree: &Tree) -> Result<Section> {
    println!(" {}", tree.title);
    let measure = |commands: Commands<'_>, text: &str| commands.measure(bench.clock(), tree.files, text);
    let mut groups = measure(all(bench, tree, "all files"), ALL)?;
    if let [first, _, ..] = &tree.extensions[..] {
        for extensions in [std::slice::from_ref(first), &tree.extensions] {
            groups.extend(measure(with_extensions(Commands::on(bench, tree), extensions), EXTENSIONS)?);
        }
    }
    groups.extend(measure(Commands::on(bench, tree), OTHERS)?);
    let started = all(bench, tree, "all files, started by a shell");
    groups.extend(measure(started, &ALL.replace("[lines]", "[lines, shell]"))?);
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
