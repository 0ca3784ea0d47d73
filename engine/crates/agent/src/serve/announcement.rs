//! Where the engine listens: told on standard output to whoever started it, in the state folder to others.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use serde_json::Value;

const FILE: &str = "listening.json";

/// Tells it to both.
pub fn announce(state_folder: &Path, announcement: &Value) {
    write(state_folder, announcement);
    let mut output = std::io::stdout().lock();
    // Whoever started us may have closed its end; the file tells the same.
    let _ = writeln!(output, "{announcement}").and_then(|()| output.flush());
}

/// Tells in the state folder that the engine has another certificate.
pub fn change_fingerprint(state_folder: &Path, fingerprint: &str) {
    let told = fs::read(state_folder.join(FILE)).unwrap_or_default();
    let Ok(mut announcement) = serde_json::from_slice::<Value>(&told) else { return };
    announcement["fingerprint"] = fingerprint.into();
    write(state_folder, &announcement);
}

fn write(state_folder: &Path, announcement: &Value) {
    let path = state_folder.join(FILE);
    let temporary = path.with_extension("new");
    let written = fs::write(&temporary, format!("{announcement}\n"))
        .and_then(|()| fs::rename(&temporary, &path));
    if let Err(error) = written {
        // Controllers don't read it. That of an earlier start would mislead whoever does.
        note!("{} can't be written ({error}); going on without it", path.display());
        for stale in [path, temporary] {
            let _ = fs::remove_file(stale);
        }
    }
}
