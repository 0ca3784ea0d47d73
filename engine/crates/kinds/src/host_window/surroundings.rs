//! What the agent tells a session of its surroundings.

use std::sync::{Mutex, MutexGuard, PoisonError};

use proto::{HostBackground, Neighbours};

/// Told by the agent, read when the window ends.
#[derive(Debug, Default)]
pub struct Surroundings(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    background: Option<HostBackground>,
    now: Option<Neighbours>,
    window: Option<Neighbours>,
}

impl Surroundings {
    /// Takes what the host did before the session.
    pub fn set_background(&self, background: HostBackground) {
        self.lock().background = Some(background);
    }

    /// Takes which other sessions run now.
    pub fn set_neighbours(&self, neighbours: Neighbours) {
        let mut state = self.lock();
        state.window = Some(match state.window.take() {
            None => neighbours.clone(),
            Some(window) => joined(window, &neighbours),
        });
        state.now = Some(neighbours);
    }

    /// From now on the neighbours of the measured window are collected.
    pub fn open_window(&self) {
        let mut guard = self.lock();
        let state = &mut *guard;
        state.window.clone_from(&state.now);
    }

    /// What the host did before the session, where the agent knows.
    pub fn background(&self) -> Option<HostBackground> {
        self.lock().background.clone()
    }

    /// The most sessions at once since the window opened, and all their CPUs; none without an agent.
    pub fn neighbours(&self) -> Option<Neighbours> {
        self.lock().window.clone()
    }

    // The state is whole after every line, whoever panicked.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn joined(mut window: Neighbours, more: &Neighbours) -> Neighbours {
    window.sessions = window.sessions.max(more.sessions);
    window.cpus.extend(&more.cpus);
    window.cpus.sort_unstable();
    window.cpus.dedup();
    window
}

#[cfg(test)]
mod tests {
    use proto::Neighbours;

    use super::Surroundings;

    fn neighbours(sessions: u32, cpus: &[u32]) -> Neighbours {
        Neighbours { sessions, cpus: cpus.to_vec() }
    }

    #[test]
    fn the_window_keeps_the_most_at_once_and_every_cpu() {
        let surroundings = Surroundings::default();
        surroundings.set_neighbours(neighbours(5, &[7]));
        surroundings.set_neighbours(neighbours(1, &[2]));
        surroundings.open_window();
        surroundings.set_neighbours(neighbours(2, &[1, 2]));
        surroundings.set_neighbours(neighbours(0, &[]));
        assert_eq!(surroundings.neighbours(), Some(neighbours(2, &[1, 2])));
    }

    #[test]
    fn without_an_agent_nothing_is_known() {
        let surroundings = Surroundings::default();
        surroundings.open_window();
        assert_eq!((surroundings.neighbours(), surroundings.background()), (None, None));
    }
}
