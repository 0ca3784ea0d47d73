//! Which of a name's addresses answers: RFC 8305, "happy eyeballs".

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Section 5: the recommended delay between two attempts.
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);
/// None answers within it: the first is told of, with what the system says.
const LIMIT: Duration = Duration::from_secs(12);

/// The address that a name is used by, and those that were tried before it and have not answered.
#[derive(Debug, PartialEq, Eq)]
pub struct Chosen {
    pub address: SocketAddr,
    pub dead: Vec<SocketAddr>,
}

/// Chooses the first address that takes a connection; the first of all where there is one only, or none does.
pub async fn choose(addresses: &[SocketAddr]) -> Option<Chosen> {
    let order = in_turn(addresses);
    let first = *order.first()?;
    if order.len() == 1 {
        return Some(Chosen { address: first, dead: Vec::new() });
    }
    let answering = timeout(LIMIT, answering(&order)).await.ok().flatten();
    Some(match answering {
        Some((address, begun)) => {
            let dead = order[..begun].iter().copied().filter(|&each| each != address).collect();
            Chosen { address, dead }
        }
        None => Chosen { address: first, dead: Vec::new() },
    })
}

/// Section 4: families in turn, beginning with the first address's.
fn in_turn(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let is_first_family = |address: &&SocketAddr| {
        addresses.first().is_some_and(|first| first.is_ipv4() == address.is_ipv4())
    };
    let mut own = addresses.iter().filter(is_first_family);
    let mut other = addresses.iter().filter(|address| !is_first_family(address));
    let mut order: Vec<SocketAddr> = Vec::new();
    loop {
        let (one, another) = (own.next(), other.next());
        if one.is_none() && another.is_none() {
            return order;
        }
        for address in [one, another].into_iter().flatten() {
            if !order.contains(address) {
                order.push(*address);
            }
        }
    }
}

/// The address that answers first, and how many attempts were begun by then.
async fn answering(order: &[SocketAddr]) -> Option<(SocketAddr, usize)> {
    let mut attempts = JoinSet::new();
    let mut begun = 0;
    loop {
        if let Some(&address) = order.get(begun) {
            begun += 1;
            attempts.spawn(async move { TcpStream::connect(address).await.map(|_| address) });
        }
        let is_last = begun == order.len();
        tokio::select! {
            ended = attempts.join_next() => match ended {
                Some(Ok(Ok(address))) => return Some((address, begun)),
                None if is_last => return None,
                Some(_) | None => {}
            },
            () = sleep(ATTEMPT_DELAY), if !is_last => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::Instant;

    use super::*;

    fn chosen(addresses: &[SocketAddr]) -> Option<Chosen> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(choose(addresses))
    }

    #[test]
    fn a_name_with_a_dead_ipv6_address_is_used_by_its_living_ipv4_one() {
        let engine = TcpListener::bind("127.0.0.1:0").unwrap();
        let living = engine.local_addr().unwrap();
        // Of documentation (RFC 3849): no route leads there, or nobody answers.
        let dead = SocketAddr::new("2001:db8::1".parse().unwrap(), living.port());
        let begin = Instant::now();
        let found = chosen(&[dead, living]);
        assert_eq!(found, Some(Chosen { address: living, dead: vec![dead] }));
        assert!(begin.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_closed_port_is_passed_over_and_the_first_is_told_of_where_none_answers() {
        let engine = TcpListener::bind("127.0.0.1:0").unwrap();
        let living = engine.local_addr().unwrap();
        let closed = SocketAddr::new("127.0.0.2".parse().unwrap(), living.port());
        let found = chosen(&[closed, living]).unwrap();
        assert_eq!((found.address, found.dead), (living, vec![closed]));
        drop(engine);
        assert_eq!(chosen(&[closed, living]).unwrap().address, closed);
        assert_eq!(chosen(&[]), None);
    }

    #[test]
    fn families_take_turns() {
        let [one, two, three]: [SocketAddr; 3] =
            ["[::1]:1", "[::2]:1", "127.0.0.1:1"].map(|text| text.parse().unwrap());
        assert_eq!(in_turn(&[one, two, three, one]), [one, three, two]);
    }
}
