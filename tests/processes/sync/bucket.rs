//! A bucket on loopback that heeds conditions as S3 and Google Cloud Storage do, or fails as it is told.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The objects by key, with generation and pushes; and the requests that came.
#[derive(Default)]
pub struct Objects {
    pub objects: BTreeMap<String, (Vec<u8>, u64, String)>,
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
    /// Objects have no metadata.
    Forgetful,
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
        held.objects.insert(key.to_owned(), (bytes.to_vec(), generation, String::new()));
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
    let mut objects = objects.lock().unwrap();
    objects.requests.push(format!("{method} {key}"));
    let reply = reply(&mut objects, (method, &key), &headers, body, manner);
    if method == "PUT" && objects.silent.take_if(|silent| *silent == key).is_some() {
        drop(objects);
        // Until the one who waits is gone.
        let _ = reader.read(&mut [0]);
        return;
    }
    let mut stream = stream;
    let _ = stream.write_all(&reply);
}

fn reply(
    objects: &mut Objects,
    (method, key): (&str, &str),
    headers: &BTreeMap<String, String>,
    body: Vec<u8>,
    manner: Manner,
) -> Vec<u8> {
    match manner {
        Manner::Always(status, body) => return whole(status, &[], body.as_bytes()),
        Manner::ReadOnly(status, body) if method != "GET" => return whole(status, &[], body.as_bytes()),
        _ => {}
    }
    let found = objects.objects.get(key).cloned();
    let tag = |generation: u64| format!("\"{generation}\"");
    let present = found.as_ref().map(|(_, generation, _)| *generation);
    let wants = |name: &str| headers.get(name).map(String::as_str);
    match (method, found) {
        ("GET", None) => {
            whole(404, &[], b"<Error><Code>NoSuchKey</Code><Message>No such key.</Message></Error>")
        }
        ("GET", Some((_, generation, _))) if wants("if-none-match") == Some(&tag(generation)) => {
            whole(304, &[], b"")
        }
        ("GET", Some((bytes, generation, pushes))) => {
            let fields = [
                ("etag", tag(generation)),
                ("x-goog-generation", generation.to_string()),
                ("last-modified", "Sat, 31 Jan 2026 10:40:00 GMT".to_owned()),
                ("x-amz-meta-memoriespushes", pushes.clone()),
                ("x-goog-meta-memoriespushes", pushes.clone()),
            ];
            let fields =
                if pushes.is_empty() || manner == Manner::Forgetful { &fields[..3] } else { &fields };
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
            let pushes = wants("x-amz-meta-memoriespushes").or(wants("x-goog-meta-memoriespushes"));
            let generation = objects.generation;
            objects.objects.insert(key.to_owned(), (body, generation, pushes.unwrap_or_default().to_owned()));
            whole(200, &[("etag", tag(generation)), ("x-goog-generation", generation.to_string())], b"")
        }
        ("DELETE", _) => {
            objects.objects.remove(key);
            whole(204, &[], b"")
        }
        _ => whole(405, &[], b""),
    }
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
