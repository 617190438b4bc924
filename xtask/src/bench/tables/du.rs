//! What uses the space.

use anyhow::Result;

use crate::bench::context::Context;
use crate::bench::record::Section;
use crate::bench::shape;

/// In the group "sum" each tool has its own format. All count allocated space; dust, dua and diskus count hard links once.
const TEXT: &str = "
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

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    bench.sections(&[shape::LARGE, shape::DEEP], TEXT)
}
