#include "place/workers/remote_probe.h"

#include <utility>

#include "place/wire/possible.h"

namespace mynah::place {

std::function<Result<Probe>()> remote_probe(std::shared_ptr<WorkerLane> worker, StageGroup group,
                                            const StepPace& pace) {
  return [worker = std::move(worker), group, limit = pace.limit()]() -> Result<Probe> {
    MYNAH_TRY(ProbeReport report, worker->ask_for<ProbeReport>(Ask::Probe, limit, {}, group));
    if (!is_possible(report)) {
      worker->refuse_answer();
    }
    return std::move(report.probe);
  };
}

}  // namespace mynah::place
