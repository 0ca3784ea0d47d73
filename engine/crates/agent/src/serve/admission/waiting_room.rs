//! Connections of strangers: bounded in number, so that those who say nothing can't keep out those who do.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex};

use tokio::task::AbortHandle;

use crate::serve::locked::locked;

/// Holds connections until they have shown who they are. When it is full, the oldest one goes of the address that has
/// the most: one that floods closes its own.
pub struct WaitingRoom {
    capacity: usize,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    by_address: HashMap<IpAddr, BTreeMap<u64, AbortHandle>>,
    count: usize,
    next: u64,
}

/// A place in the room, given up with its value.
pub struct Seat {
    room: Arc<WaitingRoom>,
    address: IpAddr,
    number: u64,
}

impl WaitingRoom {
    pub fn new(capacity: usize) -> Arc<Self> {
        Arc::new(Self { capacity: capacity.max(1), waiting: Mutex::default() })
    }

    /// Takes in the connection that `start` begins to listen to.
    pub fn enter(self: &Arc<Self>, address: IpAddr, start: impl FnOnce(Seat) -> AbortHandle) {
        let address = one_site(address);
        let mut waiting = locked(&self.waiting);
        let number = waiting.next;
        waiting.next += 1;
        // Started under the lock: a connection that leaves at once finds itself here.
        let task = start(Seat { room: Arc::clone(self), address, number });
        waiting.by_address.entry(address).or_default().insert(number, task);
        waiting.count += 1;
        let oldest = if waiting.count > self.capacity { waiting.take_oldest() } else { None };
        drop(waiting);
        if let Some(oldest) = oldest {
            oldest.abort();
        }
    }

    /// Closes one connection: a free descriptor is worth more.
    pub fn make_room(&self) {
        let oldest = locked(&self.waiting).take_oldest();
        if let Some(oldest) = oldest {
            oldest.abort();
        }
    }

    fn leave(&self, address: IpAddr, number: u64) {
        locked(&self.waiting).take(address, number);
    }
}

impl Waiting {
    fn take_oldest(&mut self) -> Option<AbortHandle> {
        let (&address, tasks) = self.by_address.iter().max_by_key(|(_, tasks)| tasks.len())?;
        let number = *tasks.first_key_value()?.0;
        self.take(address, number)
    }

    fn take(&mut self, address: IpAddr, number: u64) -> Option<AbortHandle> {
        let tasks = self.by_address.get_mut(&address)?;
        let task = tasks.remove(&number)?;
        if tasks.is_empty() {
            self.by_address.remove(&address);
        }
        self.count -= 1;
        Some(task)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.room.leave(self.address, self.number);
    }
}

/// Whoever has one IPv6 address has its whole /64.
fn one_site(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = u128::from(address) >> 64 << 64;
            Ipv6Addr::from(network).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::{JoinHandle, yield_now};

    use super::*;

    fn enter(room: &Arc<WaitingRoom>, address: &str) -> JoinHandle<()> {
        let mut task = None;
        room.enter(address.parse().unwrap(), |seat| {
            let started = tokio::spawn(async move {
                let _seat = seat;
                std::future::pending::<()>().await;
            });
            let handle = started.abort_handle();
            task = Some(started);
            handle
        });
        task.unwrap()
    }

    fn closed(tasks: &[JoinHandle<()>]) -> Vec<usize> {
        (0..tasks.len()).filter(|&index| tasks[index].is_finished()).collect()
    }

    #[tokio::test]
    async fn of_4097_connections_the_oldest_is_closed() {
        let room = WaitingRoom::new(4_096);
        let tasks: Vec<_> = (0..4_097).map(|_| enter(&room, "192.0.2.1")).collect();
        yield_now().await;
        assert_eq!(closed(&tasks), [0]);
        assert_eq!(locked(&room.waiting).count, 4_096);
    }

    #[tokio::test]
    async fn an_address_that_floods_closes_its_own_and_not_an_older_one_of_another() {
        let room = WaitingRoom::new(3);
        let addresses = ["192.0.2.1", "192.0.2.2", "192.0.2.2", "192.0.2.2", "192.0.2.2"];
        let tasks = addresses.map(|address| enter(&room, address));
        yield_now().await;
        assert_eq!(closed(&tasks), [1, 2]);
        room.make_room();
        yield_now().await;
        assert_eq!(closed(&tasks), [1, 2, 3]);
    }

    #[tokio::test]
    async fn addresses_of_one_ipv6_site_are_one() {
        let room = WaitingRoom::new(2);
        let tasks =
            ["192.0.2.1", "2001:db8::1", "2001:db8::2"].map(|address| enter(&room, address));
        yield_now().await;
        assert_eq!(closed(&tasks), [1]);
    }

    #[tokio::test]
    async fn who_has_left_holds_no_place_even_when_it_left_at_once() {
        let room = WaitingRoom::new(2);
        for _ in 0..10 {
            room.enter("192.0.2.1".parse().unwrap(), |seat| {
                tokio::spawn(async move { drop(seat) }).abort_handle()
            });
        }
        yield_now().await;
        yield_now().await;
        assert_eq!(locked(&room.waiting).count, 0);
        assert!(locked(&room.waiting).by_address.is_empty());
    }
}
