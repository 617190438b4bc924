//! Listing what an expression is true for, and listing in order. bfs has the arguments of GNU find.

use anyhow::Result;

use crate::bench::context::Context;
use crate::bench::record::Section;
use crate::bench::shape;

/// `-s` of bfs sorts each directory. A search that examines the same files without sorting them shows the cost of sorting.
/// `tail` reads to the end; `head` would end `sort` with a signal. Which of several files of one size are listed differs
/// between tools.
const TEXT: &str = r#"
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

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    bench.sections(&[shape::LARGE, shape::MIXED], TEXT)
}
