//! A bucket on loopback that heeds conditions as S3 and Google Cloud Storage do, or fails as it is told.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The objects by key, with their generation; and the requests that came.
#[derive(Default)]
pub struct Objects {
    pub objects: BTreeMap<String, (Vec<u8>, u64)>,
    pub requests: Vec<String>,
    /// The next write of this key arrives, and is never answered.
    pub silent: Option<&'static str>,
    generation: u64,
}

/// How the bucket answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// As the real ones do.
    Right,
    /// Conditions do not count.
    Unconditional,
    /// Each answer is an error whose body never ends.
    Endless,
    /// The version of an object is another one in each answer.
    Restless,
    /// Each answer has this status and body.
    Always(u16, &'static str),
    /// Writes have this status and body.
    ReadOnly(u16, &'static str),
    /// The body of an object ends too early.
    Torn,
    /// The head of an object promises 100 MB.
    Huge,
}

pub struct Bucket {
    pub address: SocketAddr,
    pub held: Arc<Mutex<Objects>>,
}

impl Bucket {
    /// Serves until the test ends.
    pub fn start(manner: Manner) -> Bucket {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let held: Arc<Mutex<Objects>> = Arc::default();
        let objects = Arc::clone(&held);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let objects = Arc::clone(&objects);
                std::thread::spawn(move || answer(&stream, &objects, manner));
            }
        });
        Bucket { address, held }
    }

    pub fn set(&self, key: &str, bytes: &[u8]) {
        let mut held = self.held.lock().unwrap();
        held.generation += 1;
        let generation = held.generation;
        held.objects.insert(key.to_owned(), (bytes.to_vec(), generation));
    }

    pub fn keys(&self) -> Vec<String> {
        self.held.lock().unwrap().objects.keys().cloned().collect()
    }
}

fn answer(stream: &TcpStream, objects: &Mutex<Objects>, manner: Manner) {
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let line = line.trim_end().to_owned();
        match line.split_once(": ") {
            _ if line.is_empty() => break,
            // As nginx does, and Python's Werkzeug.
            Some((name, _)) if name.contains('_') => {}
            Some((name, value)) if !head.is_empty() => {
                headers.insert(name.to_ascii_lowercase(), value.to_owned());
            }
            _ => head = line.split(' ').map(str::to_owned).collect(),
        }
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let (method, key) = (head[0].as_str(), head[1].split('?').next().unwrap_or_default());
    let key = key.replace("%2F", "/").replace("%2E", ".");
    let query = head[1].split_once('?').map_or("", |(_, query)| query).replace("%2F", "/");
    let prefix = query.split('&').find_map(|field| field.strip_prefix("prefix="));
    headers.extend(prefix.map(|prefix| ("prefix".to_owned(), prefix.to_owned())));
    let mut objects = objects.lock().unwrap();
    objects.requests.push(format!("{method} {key}"));
    let reply = reply(&mut objects, (method, &key), &headers, body, manner);
    if method == "PUT" && objects.silent.take_if(|silent| *silent == key).is_some() {
        drop(objects);
        // Until the one who waits is gone.
        let _ = reader.read(&mut [0]);
        return;
    }
    drop(objects);
    let mut stream = stream;
    let mut sent = stream.write_all(&reply);
    while manner == Manner::Endless && sent.is_ok() {
        sent = stream.write_all(&[b'x'; 1 << 16]);
    }
}

fn reply(
    objects: &mut Objects,
    (method, key): (&str, &str),
    headers: &BTreeMap<String, String>,
    body: Vec<u8>,
    manner: Manner,
) -> Vec<u8> {
    match manner {
        Manner::Endless => return b"HTTP/1.1 418 -\r\n\r\n<Error><Code>Endless</Code>".to_vec(),
        Manner::Always(status, body) => return whole(status, &[], body.as_bytes()),
        Manner::Restless => objects.generation += 1,
        Manner::ReadOnly(status, body) if method != "GET" => return whole(status, &[], body.as_bytes()),
        _ => {}
    }
    let found = objects.objects.get(key).cloned();
    let tag = |generation: u64| format!("\"{generation}\"");
    let present = found.as_ref().map(|(_, generation)| *generation);
    let wants = |name: &str| headers.get(name).map(String::as_str);
    match (method, found) {
        ("GET", _) if key.trim_end_matches('/').split('/').count() == 2 => {
            list(objects, key, wants("prefix").unwrap_or_default())
        }
        ("GET", None) => {
            whole(404, &[], b"<Error><Code>NoSuchKey</Code><Message>No such key.</Message></Error>")
        }
        ("GET", Some((_, generation))) if wants("if-none-match") == Some(&tag(generation)) => {
            whole(304, &[], b"")
        }
        ("GET", Some((bytes, generation))) => {
            let fields = [
                ("etag", tag(generation)),
                ("x-goog-generation", generation.to_string()),
                ("last-modified", "Sat, 31 Jan 2026 10:40:00 GMT".to_owned()),
            ];
            let generation = if manner == Manner::Restless { objects.generation } else { generation };
            let fields = &[("etag", tag(generation)), fields[1].clone(), fields[2].clone()];
            match manner {
                Manner::Torn => {
                    let mut reply = whole(200, fields, &bytes);
                    reply.truncate(reply.len() - bytes.len() / 2);
                    reply
                }
                Manner::Huge => {
                    b"HTTP/1.1 200 OK\r\netag: \"1\"\r\nlast-modified: Sat, 31 Jan 2026 10:40:00 GMT\r\n\
                    content-length: 100000000\r\n\r\n"
                        .to_vec()
                }
                _ => whole(200, fields, &bytes),
            }
        }
        ("PUT", _) => {
            let met = match (wants("if-none-match"), wants("if-match"), wants("x-goog-if-generation-match")) {
                (Some("*"), ..) | (_, _, Some("0")) => present.is_none(),
                (_, Some(expected), _) => present.map(tag).as_deref() == Some(expected),
                (.., Some(expected)) => {
                    present.map(|generation| generation.to_string()).as_deref() == Some(expected)
                }
                _ => panic!("a write without a condition"),
            };
            if !met && manner != Manner::Unconditional {
                return whole(412, &[], b"<Error><Code>PreconditionFailed</Code></Error>");
            }
            objects.generation += 1;
            let generation = objects.generation;
            objects.objects.insert(key.to_owned(), (body, generation));
            whole(200, &[("etag", tag(generation)), ("x-goog-generation", generation.to_string())], b"")
        }
        _ => whole(405, &[], b""),
    }
}

/// The objects of a bucket whose keys begin with the prefix that is asked for.
fn list(objects: &Objects, bucket: &str, prefix: &str) -> Vec<u8> {
    let bucket = format!("{}/", bucket.trim_end_matches('/'));
    let mut found = String::new();
    for (key, (bytes, generation)) in &objects.objects {
        if let Some(key) = key.strip_prefix(&bucket).filter(|key| key.starts_with(prefix)) {
            found.push_str(&format!(
                "<Contents><Key>{key}</Key><LastModified>2026-01-31T10:40:00.000Z</LastModified><ETag>\"{generation}\"</ETag>\
                 <Size>{}</Size></Contents>",
                bytes.len()
            ));
        }
    }
    let answer = format!("<ListBucketResult><IsTruncated>false</IsTruncated>{found}</ListBucketResult>");
    whole(200, &[], answer.as_bytes())
}

fn whole(status: u16, headers: &[(&str, String)], body: &[u8]) -> Vec<u8> {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = if status == 204 || status == 304 {
        String::new()
    } else {
        format!("content-length: {}\r\n", body.len())
    };
    let mut reply = format!("HTTP/1.1 {status} -\r\n{headers}{length}connection: close\r\n\r\n").into_bytes();
    reply.extend_from_slice(body);
    reply
}
