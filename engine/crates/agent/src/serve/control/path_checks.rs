//! Path checks over the control plane: a sink opens its door, a source looks.

use std::net::{IpAddr, SocketAddr};

use hyper::StatusCode;
use proto::{Bind, Cookie, PathCheck, PathRequest, Peer, Role, reason};
use serde_json::{Value, json};

use crate::serve::admission::access::is_single_host;
use crate::serve::engine::Engine;
use crate::serve::ports::path_checks::MOST_LOOKS;
use crate::serve::refusal::Refusal;

impl Engine {
    /// Answers for a path check: a sink opens its door, a source looks.
    pub async fn check_path(&self, body: &[u8]) -> Result<Value, Refusal> {
        let request: PathRequest = proto::parse_json(body).map_err(|error| {
            let message = reason!("request_no_path_check", why = error.to_string());
            Refusal::new(StatusCode::BAD_REQUEST, "malformed", message)
        })?;
        if let Some(peer) = request.peer {
            self.check_place(peer.address)?;
        }
        match (request.role, request.peer) {
            (Role::Sink, peer) => {
                let peer = peer.map(|peer| peer.address.to_canonical());
                let arrived = self.path_checks.open(&request.cookie, peer);
                Ok(json!({"data_port": self.data.port, "arrived": arrived}))
            }
            (Role::Source, Some(peer)) => {
                let found =
                    self.look(peer, request.bind.unwrap_or_default(), request.cookie).await?;
                Ok(json!(found))
            }
            (Role::Source, None) => Err(Refusal::invalid("peer", reason!("request_no_peer"))),
        }
    }

    async fn look(&self, peer: Peer, bind: Bind, cookie: Cookie) -> Result<PathCheck, Refusal> {
        let Some(_place) = self.path_checks.place_to_look() else {
            let message = reason!("admission_path_checks", count = MOST_LOOKS);
            return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "limit", message));
        };
        let to = SocketAddr::new(peer.address, peer.data_port);
        let local = net::LocalEnd { address: bind.address, device: bind.device };
        let look = move || kinds::check_path(to, &local, &cookie);
        tokio::task::spawn_blocking(look).await.map_err(|error| {
            let message = reason!("request_path_check_broke_off", why = error.to_string());
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "internal", message)
        })
    }

    /// Refuses an address to which this engine's data never goes.
    pub fn check_place(&self, address: IpAddr) -> Result<(), Refusal> {
        if !is_single_host(address) {
            let message = reason!("request_peer_no_host", address = address.to_string());
            return Err(Refusal::invalid("peer.address", message));
        }
        if !self.allowed.admits(address) {
            let message = reason!("admission_peer", address = address.to_string());
            return Err(Refusal::invalid("peer.address", message));
        }
        Ok(())
    }
}
