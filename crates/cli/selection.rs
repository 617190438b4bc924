//! The options that say which entries of a tree are meant, the same for every command that takes trees.

use clap::ArgAction;
use ftk_select::{Selection, Size, Types};
use ftk_walk::Follow;

/// Tests of one kind are alternatives; an entry must pass every kind that is given.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Which entries")]
pub(crate) struct SelectionArgs {
    /// Names with this extension, in either case; repeatable
    #[arg(short, long, value_name = "EXT", action = ArgAction::Append)]
    extension: Vec<String>,

    /// Names that match this glob; repeatable
    #[arg(short, long, value_name = "GLOB")]
    name: Vec<String>,

    /// As --name, in either case
    #[arg(long, value_name = "GLOB")]
    iname: Vec<String>,

    /// Leave out what matches, and all below it: by name, or by path below the start if it holds a `/`
    #[arg(short = 'E', long, value_name = "GLOB")]
    exclude: Vec<String>,

    /// Entries of these types: f(ile), d(irectory), l(ink), p(ipe), s(ocket), b(lock), c(haracter device)
    #[arg(short = 't', long = "type", value_name = "f,d,l,p,s,b,c")]
    types: Vec<Types>,

    /// Sizes in bytes, or with K, M, G, T (powers of 1,024): `+` more, `-` less, neither exactly; two make a range
    #[arg(short = 'S', long, value_name = "[+-]N", allow_hyphen_values = true)]
    size: Vec<Size>,

    /// Nothing above this depth; a starting point is at 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    min_depth: u32,

    /// Nothing below this depth
    #[arg(long, value_name = "N")]
    max_depth: Option<u32>,

    /// Stay on the file system of each starting point
    #[arg(short = 'x', long)]
    one_file_system: bool,

    /// Follow symbolic links
    #[arg(short = 'L', long)]
    follow: bool,

    /// Leave out names that begin with a dot, and all below them
    #[arg(long)]
    no_hidden: bool,
}

impl SelectionArgs {
    /// The tests, compiled. `own`: device and inode of files that this run writes, which are left out.
    pub(crate) fn compile(&self, own: &[(u64, u64)]) -> anyhow::Result<Selection> {
        let mut builder = Selection::builder()
            .min_depth(self.min_depth)
            .one_file_system(self.one_file_system)
            .no_hidden(self.no_hidden);
        if let Some(depth) = self.max_depth {
            builder = builder.max_depth(depth);
        }
        builder = self.types.iter().fold(builder, |builder, &types| builder.types(types));
        builder = self.extension.iter().fold(builder, |builder, extension| builder.extension(extension));
        builder = self.name.iter().fold(builder, |builder, glob| builder.name(glob));
        builder = self.iname.iter().fold(builder, |builder, glob| builder.iname(glob));
        builder = self.exclude.iter().fold(builder, |builder, glob| builder.exclude(glob));
        builder = self.size.iter().fold(builder, |builder, &size| builder.size(size));
        builder = own.iter().fold(builder, |builder, &(dev, ino)| builder.leave_out(dev, ino));
        Ok(builder.build()?)
    }

    /// Which links are followed; `roots`: those given as arguments, without `-L`.
    pub(crate) fn follow(&self, roots: Follow) -> Follow {
        if self.follow { Follow::Always } else { roots }
    }
}
