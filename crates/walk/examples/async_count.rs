//! Counts entries in a task of tokio while a walk sends them: `async_count PATH...`
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example of a program")]

use std::process::ExitCode;

use ftk_walk::{Step, Walker};
use tokio::runtime::Builder;
use tokio::sync::mpsc::channel;
use tokio::task::spawn_blocking;

async fn count() -> Result<bool, tokio::task::JoinError> {
    let (sender, mut receiver) = channel(1000);
    let walk = spawn_blocking(move || {
        Walker::new(std::env::args_os().skip(1)).fold(
            || (),
            |(), entry| {
                // Waits while the channel is full. Fails if the task has dropped the receiver.
                let path = entry.map(|entry| entry.path());
                if sender.blocking_send(path).is_ok() { Step::Descend } else { Step::Stop }
            },
        )
    });
    let (mut entries, mut failed) = (0_u64, false);
    while let Some(path) = receiver.recv().await {
        match path {
            Ok(_) => entries += 1,
            Err(error) => {
                eprintln!("{error:#}");
                failed = true;
            }
        }
    }
    walk.await?; // a panic in the walk
    println!("{entries}");
    Ok(failed)
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let failed = Builder::new_multi_thread().build()?.block_on(count())?;
    Ok(ExitCode::from(if failed { 2 } else { 0 }))
}
