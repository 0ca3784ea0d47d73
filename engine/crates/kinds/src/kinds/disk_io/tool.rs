//! fio as it is installed: started with arguments that are fixed but for numbers and one of the catalog's words.

use std::fs;
use std::io::Read;
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use proto::{HostTest, Reason, reason};
use serde_json::Value;

use super::job::Job;
use super::outcome::{Direction, moved, report};
use super::target::Target;
use crate::failure::Failure;
use crate::host_kind::{Broken, HostReport, Stage, next_telling};

/// Where distributions put it; no search path, which whoever starts the engine could bend.
const PROGRAMS: [&str; 3] = ["/usr/bin/fio", "/usr/local/bin/fio", "/usr/sbin/fio"];
/// The first that tells percentiles of whole latencies.
const OLDEST: (u32, u32) = (3, 1);
/// A job's document has some twenty kilobytes.
const DOCUMENT_BYTES: u64 = 4 << 20;
const COMPLAINT_BYTES: u64 = 4 << 10;
/// fio starts, makes its threads and writes its document.
const OVERTIME: Duration = Duration::from_secs(30);
/// How often it is looked whether fio has ended.
const LOOKING: Duration = Duration::from_millis(20);

/// fio of this host.
pub struct Fio {
    program: &'static str,
    /// Such as `3.33`.
    version: String,
}

/// What happened to a started fio.
struct Ended {
    status: ExitStatus,
    document: String,
    complaint: String,
    is_late: bool,
}

impl Fio {
    /// It, or why there is none that can be used.
    pub fn of_this_host() -> Result<Self, Reason> {
        let program = PROGRAMS.into_iter().find(|program| Path::new(program).exists());
        let program = program.ok_or_else(|| reason!("host_no_fio"))?;
        let printed = Command::new(program).arg("--version").env_clear().output();
        let printed = printed.map_err(|error| not_started(program, &error))?;
        let text = String::from_utf8_lossy(&printed.stdout);
        let version = text.trim().trim_start_matches("fio-").to_owned();
        let mut parts = version.split(['.', '-']).map(|part| part.parse::<u32>().unwrap_or(0));
        let number = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
        if number < OLDEST {
            return Err(reason!("host_old_fio", program = program, version = version));
        }
        Ok(Self { program, version })
    }

    /// Runs the job and reports what fio says of it.
    pub fn run(&self, job: &Job, target: &Target, stage: &mut Stage) -> Result<HostReport, Broken> {
        let spent_before = net::children_cpu_seconds();
        let mut child = self.start(job, target)?;
        let (document, complaint) = (
            read_all(child.stdout.take(), DOCUMENT_BYTES),
            read_all(child.stderr.take(), COMPLAINT_BYTES),
        );
        let outcome = watch(&mut child, job, stage);
        // What it had is read to its end: the pipes close with it.
        let (document, complaint) = (joined(document), joined(complaint));
        if let Some(order) = stage.stop.order() {
            return Err(order.into());
        }
        let (status, is_late) = outcome.map_err(|error| {
            Failure::internal(reason!("host_fio_lost", why = error.to_string()))
        })?;
        let document = Ended { status, document, complaint, is_late }.document()?;
        let spent = net::children_cpu_seconds() - spent_before;
        self.report(job, document, spent)
    }

    fn start(&self, job: &Job, target: &Target) -> Result<Child, Failure> {
        let refused = |error: std::io::Error| Failure::internal(not_started(self.program, &error));
        net::let_inherit(&target.file).map_err(refused)?;
        let mut command = Command::new(self.program);
        command
            .args(arguments(job, target))
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // It holds the file: it must not outlive this process.
        net::tie_to_this_thread(&mut command);
        command.spawn().map_err(refused)
    }

    fn report(&self, job: &Job, document: Value, cpu_seconds: f64) -> Result<HostReport, Broken> {
        let figures = &document["jobs"][0];
        let error = figures["error"].as_i64().unwrap_or(0);
        if error != 0 {
            let why = std::io::Error::from_raw_os_error(i32::try_from(error).unwrap_or(0));
            let reason = reason!("host_fio_error", why = why.to_string());
            return Err(Failure::internal(reason).into());
        }
        let directions =
            [Direction::of_fio(&figures["read"]), Direction::of_fio(&figures["write"])];
        if directions.iter().all(|direction| direction.operations <= 0.0) {
            return Err(Failure::internal(reason!("host_fio_idle")).into());
        }
        let test = HostTest {
            variant: format!("fio {}", self.version),
            tool_document: Some(document),
            ..HostTest::default()
        };
        let mut report = report(&directions, job, test);
        report.cpu_seconds = cpu_seconds;
        Ok(report)
    }
}

fn not_started(program: &str, error: &std::io::Error) -> Reason {
    reason!("host_fio_not_started", program = program, why = error.to_string())
}

/// fio's arguments: nothing of a test gets into them but numbers, and a pattern that the catalog lists.
fn arguments(job: &Job, target: &Target) -> Vec<String> {
    let descriptor = target.file.as_raw_fd();
    let mut arguments = vec![
        "--name=benchweb".to_owned(),
        "--thread".to_owned(),
        // The same file, however often its name is looked up: fio has this descriptor too.
        format!("--filename=/proc/self/fd/{descriptor}"),
        format!("--rw={}", job.pattern),
        format!("--bs={}", job.block_bytes),
        format!("--iodepth={}", job.depth),
        format!("--numjobs={}", job.jobs),
        format!("--size={}", target.size_bytes),
        format!("--direct={}", u8::from(job.is_direct)),
        format!("--runtime={}ms", job.duration.as_millis()),
        format!("--ramp_time={}ms", job.warmup.as_millis()),
        format!("--rwmixread={}", job.reads_of_hundred()),
    ];
    let fixed = [
        "--ioengine=libaio",
        "--time_based",
        "--refill_buffers",
        "--norandommap",
        "--randrepeat=0",
        "--group_reporting",
        "--allow_file_create=0",
        "--lat_percentiles=1",
        "--clat_percentiles=0",
        "--percentile_list=50:90:99:99.9",
        "--output-format=json",
    ];
    arguments.extend(fixed.map(str::to_owned));
    arguments
}

/// Waits for fio and tells of intervals meanwhile; ends it when the order to stop comes, or when it is late.
fn watch(child: &mut Child, job: &Job, stage: &mut Stage) -> std::io::Result<(ExitStatus, bool)> {
    let origin = stage.begin();
    let (begin, end) = (origin + job.warmup, origin + job.warmup + job.duration);
    let mut counter = Counter { process: child.id(), told: (origin, Some(0)) };
    let (mut is_open, mut is_closed) = (false, false);
    loop {
        let now = Instant::now();
        if !is_open && now >= begin {
            stage.open_window();
            is_open = true;
        }
        if is_open && !is_closed && now >= end {
            counter.tell(now, job, stage);
            stage.close_window();
            is_closed = true;
        }
        let limit = if is_open { end } else { begin };
        let due = next_telling(counter.told.0, job.report_interval, limit);
        if !is_closed && now >= due {
            counter.tell(now, job, stage);
        }
        if let Some(status) = child.try_wait()? {
            return Ok((status, false));
        }
        let is_late = now > end + OVERTIME;
        if is_late || stage.stop.wait(now + LOOKING).is_some() {
            child.kill()?;
            return Ok((child.wait()?, is_late));
        }
    }
}

/// What fio has read and written, as the kernel counts it.
struct Counter {
    process: u32,
    told: (Instant, Option<u64>),
}

impl Counter {
    fn tell(&mut self, now: Instant, job: &Job, stage: &mut Stage) {
        let bytes = self.bytes();
        let (before, told) = self.told;
        if let Some((bytes, told)) = bytes.zip(told).filter(|_| now > before) {
            let operations = bytes.saturating_sub(told) / job.block_bytes as u64;
            let seconds = (now - before).as_secs_f64();
            stage.interval(before, now, moved([operations, 0], job, seconds));
        }
        self.told = (now, bytes);
    }

    fn bytes(&self) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{}/io", self.process)).ok()?;
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().parse::<u64>().ok()
        };
        Some(value("read_bytes:")? + value("write_bytes:")?)
    }
}

impl Ended {
    /// fio's document.
    fn document(self) -> Result<Value, Failure> {
        let said = self.complaint.trim().lines().next().unwrap_or_default().to_owned();
        if self.is_late {
            let late = OVERTIME.as_secs();
            let late = reason!("host_fio_late", seconds = late.to_string());
            return Err(Failure::internal(Reason::joined([late, said.into()], "; ")));
        }
        // Warnings stand before the document.
        let begin = self.document.find('{').unwrap_or(0);
        let parsed = proto::parse_json::<Value>(self.document[begin..].trim().as_bytes());
        match parsed {
            Ok(document) if document["jobs"][0].is_object() => Ok(document),
            _ => {
                let status = self.status.to_string();
                Err(Failure::internal(if said.is_empty() {
                    reason!("host_fio_silent", status = status)
                } else {
                    reason!("host_fio_without_result", status = status, why = said)
                }))
            }
        }
    }
}

fn read_all(pipe: Option<impl Read + Send + 'static>, most: u64) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // What can't be read is missing in the document, which is told of then.
            let _ = pipe.take(most).read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn joined(reader: JoinHandle<String>) -> String {
    reader.join().unwrap_or_default()
}
