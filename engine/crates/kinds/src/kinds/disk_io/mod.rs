//! Disk input and output as fio's jobs have it: by fio itself where it is installed, else by this engine's own threads.

mod buffer;
mod job;
mod native;
mod outcome;
mod target;
mod tool;

use proto::{DiskPlace, FailureCode, Params};

use crate::failure::Failure;
use crate::host_kind::{Broken, HostKind, HostReport, Stage};
use job::{Job, Method};
use target::Target;
use tool::Fio;

/// The kind.
struct DiskIo {
    job: Job,
    place: DiskPlace,
}

/// Reads checked and filled parameters; what the operator didn't allow is refused.
pub fn read(params: &Params, places: &[DiskPlace]) -> Result<Box<dyn HostKind>, Failure> {
    let job = Job::read(params).map_err(|reason| Failure::new(FailureCode::Invalid, reason))?;
    let place = target::chosen(places, params.text("directory").unwrap_or_default())
        .map_err(|reason| Failure::new(FailureCode::Invalid, reason))?;
    Ok(Box::new(DiskIo { job, place: place.clone() }))
}

impl HostKind for DiskIo {
    fn run(&self, stage: &mut Stage) -> Result<HostReport, Broken> {
        let fio = match self.job.method {
            Method::Native => None,
            Method::Auto => Fio::of_this_host().ok(),
            Method::Fio => Some(
                Fio::of_this_host().map_err(|reason| Failure::new(FailureCode::Invalid, reason))?,
            ),
        };
        let target = Target::open(&self.place, &self.job, &stage.stop)?;
        let mut report = match fio {
            Some(fio) => fio.run(&self.job, &target, stage)?,
            None => native::run(&self.job, &target, stage)?,
        };
        if target.is_memory_or_layer {
            report.flags.push("no_disk_of_its_own".to_owned());
        }
        report.test.disk = Some(target.used());
        Ok(report)
    }
}
