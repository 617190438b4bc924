//! The codec for lists: checksum lines, paths in JSON, and names for a terminal. Each with ordinary names,
//! and with names that need every escape.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ftk_benches::{config, random_bytes};
use ftk_record::{End, Style, SumFormat, SumLine, read_path, sanitize, write_path};
use serde_json::{Map, Value};

/// Names in one iteration.
const NAMES: usize = 1000;

/// Names of one kind.
struct Names {
    kind: &'static str,
    names: Vec<Vec<u8>>,
}

impl Names {
    fn all() -> [Self; 3] {
        let make =
            |kind, name: &dyn Fn(usize) -> Vec<u8>| Self { kind, names: (0..NAMES).map(name).collect() };
        [
            make("plain", &|nth| format!("drivers/net/ethernet/vendor/file_{nth:06}.c").into_bytes()),
            make("escaped", &|nth| format!("dir\\with\nlines/\x1b[31m\u{202e}{nth:06}").into_bytes()),
            make("not UTF-8", &|nth| [b"caf\xe9/".as_slice(), format!("{nth:06}.txt").as_bytes()].concat()),
        ]
    }

    fn throughput(&self) -> Throughput {
        Throughput::Bytes(self.names.iter().map(|name| name.len() as u64).sum())
    }
}

fn sums(criterion: &mut Criterion) {
    let digest = random_bytes(32);
    let mut group = criterion.benchmark_group("codec/sum lines");
    for names in Names::all() {
        group.throughput(names.throughput());
        for (style, how) in [(Style::Untagged, "untagged"), (Style::Tagged, "tagged")] {
            let format = SumFormat::new("SHA256", style, End::Newline);
            let write = |list: &mut Vec<u8>| {
                for name in &names.names {
                    format.write_line(list, black_box(&digest), name);
                }
            };
            let mut list = Vec::new();
            write(&mut list);
            let lines: Vec<_> =
                list.strip_suffix(b"\n").expect("a line").split(|&byte| byte == b'\n').collect();
            let parsed = lines.iter().map(|line| SumLine::parse(line, End::Newline).expect("a sum line"));
            assert!(parsed.map(|line| line.name.into_owned()).eq(names.names.iter().cloned()));

            let mut out = Vec::with_capacity(list.len());
            group.bench_function(BenchmarkId::new(format!("write {how}"), names.kind), |bencher| {
                bencher.iter(|| {
                    out.clear();
                    write(&mut out);
                    assert_eq!(out.len(), list.len());
                });
            });
            group.bench_function(BenchmarkId::new(format!("parse {how}"), names.kind), |bencher| {
                bencher.iter(|| {
                    for line in &lines {
                        black_box(SumLine::parse(black_box(line), End::Newline).expect("a sum line"));
                    }
                });
            });
        }
    }
}

fn json(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("codec/JSON paths");
    for names in Names::all() {
        group.throughput(names.throughput());
        let mut decoded = Vec::new();
        for name in &names.names {
            let mut object = b"{".to_vec();
            write_path(&mut object, "path", name);
            object.push(b'}');
            let mut object: Map<String, Value> = serde_json::from_slice(&object).expect("a JSON object");
            let mut text = |field| match object.remove(field) {
                Some(Value::String(text)) => Some(text),
                _ => None,
            };
            decoded.push((text("path"), text("path_b64")));
        }
        let read = |(path, path_b64): &(Option<String>, Option<String>)| {
            read_path(path.as_deref(), path_b64.as_deref()).expect("a path").into_owned()
        };
        assert!(decoded.iter().map(read).eq(names.names.iter().cloned()));

        let mut out = Vec::new();
        group.bench_function(BenchmarkId::new("write", names.kind), |bencher| {
            bencher.iter(|| {
                out.clear();
                for name in &names.names {
                    write_path(&mut out, "path", black_box(name));
                }
            });
        });
        group.bench_function(BenchmarkId::new("read", names.kind), |bencher| {
            bencher.iter(|| {
                for (path, path_b64) in &decoded {
                    black_box(read_path(black_box(path.as_deref()), path_b64.as_deref()).expect("a path"));
                }
            });
        });
    }
}

fn terminal(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("codec/terminal");
    for names in Names::all() {
        group.throughput(names.throughput());
        for name in &names.names {
            let shown = sanitize(name);
            assert!(!shown.contains(|c: char| c.is_control() || c == '\u{202e}'), "{shown:?} acts");
            assert_eq!(names.kind == "plain", shown.as_bytes() == name, "{shown:?}");
        }
        group.bench_function(BenchmarkId::new("sanitize", names.kind), |bencher| {
            bencher.iter(|| {
                for name in &names.names {
                    black_box(sanitize(black_box(name)));
                }
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = config();
    targets = sums, json, terminal
}
criterion_main!(benches);
