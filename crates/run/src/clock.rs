//! Processor time: what work costs, however busy the machine is.

use rustix::time::{ClockId, clock_gettime};

/// Seconds of processor time that this process has used, all its threads together.
#[must_use]
pub fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sleeping costs nothing, work does.
    #[test]
    fn counts_work_and_not_waiting() {
        let start = processor_seconds();
        std::thread::sleep(std::time::Duration::from_millis(300));
        let slept = processor_seconds() - start;
        let began = std::time::Instant::now();
        let mut sum = 0.0_f64;
        while began.elapsed().as_millis() < 300 {
            sum += std::hint::black_box(1.5_f64).sqrt();
        }
        let worked = processor_seconds() - start - slept;
        assert!(sum > 0.0 && slept < worked, "{slept}, {worked}");
    }
}
