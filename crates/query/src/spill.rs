//! The temporary files of the engine. They have no names, so nothing is left of them, however the process ends.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::common::Result;
use datafusion::error::DataFusionError;
use datafusion::execution::spill_file::{SpillFile, SpillWriter, TempFileFactory};
use futures::{Stream, StreamExt as _, stream};

/// The bytes of one read.
const PIECE: usize = 128 << 10;

/// Creates temporary files in a directory.
pub(crate) struct Spills {
    pub(crate) dir: PathBuf,
}

impl TempFileFactory for Spills {
    fn create_temp_file(&self, _: &str) -> Result<Arc<dyn SpillFile>> {
        let file = tempfile::tempfile_in(&self.dir).map_err(DataFusionError::IoError)?;
        Ok(Arc::new(Spill(Arc::new(file))))
    }
}

/// A temporary file. Writes append to it.
#[derive(Clone)]
struct Spill(Arc<File>);

impl SpillFile for Spill {
    fn size(&self) -> Option<u64> {
        self.0.metadata().ok().map(|metadata| metadata.len())
    }

    fn read_stream(&self) -> Result<Pin<Box<dyn Stream<Item = Result<Bytes>> + Send>>> {
        let pieces = stream::try_unfold((Arc::clone(&self.0), 0), |(file, offset)| async move {
            let mut piece = vec![0; PIECE];
            let len = read_at(&file, &mut piece, offset).map_err(DataFusionError::IoError)?;
            piece.truncate(len);
            Ok((len > 0).then(|| (Bytes::from(piece), (file, offset + len as u64))))
        });
        Ok(pieces.boxed())
    }

    fn open_writer(&self) -> Result<Box<dyn SpillWriter>> {
        Ok(Box::new(self.clone()))
    }
}

fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        match file.read_at(buffer, offset) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

impl Write for Spill {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SpillWriter for Spill {
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use futures::TryStreamExt as _;

    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let file = Spills { dir: dir.path().into() }.create_temp_file("").unwrap();
        let text: Vec<u8> = (0..2 * PIECE as u32 + 5).map(|nth| (nth % 251) as u8).collect();
        let mut writer = file.open_writer().unwrap();
        writer.write_all(&text[..7]).unwrap();
        // A reader sees what was written before, and does not disturb the writer.
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let read = || runtime.block_on(file.read_stream().unwrap().try_collect::<Vec<_>>()).unwrap().concat();
        assert_eq!(read(), text[..7]);
        writer.write_all(&text[7..]).unwrap();
        writer.finish().unwrap();
        assert_eq!(read(), text);
        assert_eq!(file.size(), Some(text.len() as u64));
        assert_eq!(dir.path().read_dir().unwrap().count(), 0);
    }
}
