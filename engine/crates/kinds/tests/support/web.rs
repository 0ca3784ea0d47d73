//! A small HTTP server that behaves, or misbehaves, as a test wants.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Serves from a thread per connection until it is dropped.
pub struct Web {
    pub url: String,
    connections: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
}

impl Web {
    /// Answers each request by `answer`, which also gets its number on the connection; false closes the connection.
    pub fn start(answer: impl Fn(&mut TcpStream, usize) -> bool + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}/page", listener.local_addr().unwrap());
        let web = Self { url, connections: Arc::default(), is_over: Arc::default() };
        let (connections, is_over) = (Arc::clone(&web.connections), Arc::clone(&web.is_over));
        let answer = Arc::new(answer);
        thread::spawn(move || {
            while !is_over.load(Ordering::SeqCst) {
                let Ok((stream, _)) = listener.accept() else {
                    thread::sleep(Duration::from_millis(1));
                    continue;
                };
                connections.fetch_add(1, Ordering::SeqCst);
                let answer = Arc::clone(&answer);
                thread::spawn(move || serve(stream, &*answer));
            }
        });
        web
    }

    /// How many connections were made to it.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
    }
}

fn serve(mut stream: TcpStream, answer: &(impl Fn(&mut TcpStream, usize) -> bool + ?Sized)) {
    stream.set_nonblocking(false).unwrap();
    let mut number = 0;
    let mut request = Vec::new();
    let mut buffer = [0; 1_024];
    while let Ok(bytes @ 1..) = stream.read(&mut buffer) {
        request.extend_from_slice(&buffer[..bytes]);
        if request.ends_with(b"\r\n\r\n") {
            assert!(request.starts_with(b"GET /page HTTP/1.1\r\nHost: 127.0.0.1:"));
            request.clear();
            if !answer(&mut stream, number) {
                return;
            }
            number += 1;
        }
    }
}

/// A response of this status line with this body.
pub fn respond(stream: &mut TcpStream, status: &str, body: &str) -> bool {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).is_ok()
}
