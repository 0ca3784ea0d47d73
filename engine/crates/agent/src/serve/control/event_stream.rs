//! A session's events as they happen, to a controller that may come back for the rest.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::Response;
use hyper::body::{Bytes, Frame};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use tokio::sync::mpsc;

use crate::serve::control::answer::Body;
use crate::serve::sessions::session::Session;

/// A blank line is sent after so much silence.
const KEEP_ALIVE: Duration = Duration::from_secs(1);
/// Lines on the way to a controller; one that doesn't read holds up only itself, and its lease runs out.
const LINES_IN_FLIGHT: usize = 16;

/// Streams the events after `last_seen_id`, to the final one.
pub fn stream(session: Arc<Session>, last_seen_id: u64) -> Response<Body> {
    let (sender, lines) = mpsc::channel(LINES_IN_FLIGHT);
    tokio::spawn(feed(session, last_seen_id, sender));
    let mut response = Response::new(EventBody { lines }.boxed());
    let kind = HeaderValue::from_static("application/x-ndjson");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

async fn feed(session: Arc<Session>, mut seen: u64, sender: mpsc::Sender<Bytes>) {
    let mut progress = session.progress();
    loop {
        let (lines, last_id) = session.log().after(seen);
        seen = seen.max(last_id);
        for line in lines {
            if sender.send(line).await.is_err() {
                return;
            }
            session.renew_lease();
        }
        let now = *progress.borrow_and_update();
        if now.last_event_id > seen {
            continue;
        }
        if now.is_final {
            return;
        }
        if tokio::time::timeout(KEEP_ALIVE, progress.changed()).await.is_err() {
            if sender.send(Bytes::from_static(b"\n")).await.is_err() {
                return;
            }
            session.renew_lease();
        }
    }
}

struct EventBody {
    lines: mpsc::Receiver<Bytes>,
}

impl hyper::body::Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.lines.poll_recv(context).map(|line| line.map(|line| Ok(Frame::data(line))))
    }
}
