#include "jobs/salvage.h"

#include "jobs/job_rows.h"

namespace mynah::jobs {
namespace {

void take_over(const Database& from, const Database& into, Job job, Salvaged& salvaged) {
  std::vector<Rendition> renditions;
  if (job.state == JobState::Done) {
    auto read = find_renditions(from, job.number);
    if (read && !read->empty()) {
      renditions = *std::move(read);
    } else {
      job.state = JobState::Failed;
      job.error = Error{ErrorCode::Io, "its text was lost: the journal was damaged"};
      job.progress = {};
      ++salvaged.lost_results;
    }
  }
  const Status put = into.in_transaction([&]() -> Status {
    MYNAH_TRY_STATUS(insert_job(into, job));
    for (const Rendition& rendition : renditions) {
      MYNAH_TRY_STATUS(insert_rendition(into, job.number, rendition));
    }
    return {};
  });
  salvaged.jobs += put ? 1 : 0;  // one that is there already was read from both sides
}

// From one side as far as it can be read.
void read_from(const Database& from, const std::string& side, const Database& into,
               Salvaged& salvaged) {
  auto rows = select_jobs(from, side);
  while (rows) {
    const auto more = rows->step();
    if (!more || !*more) {
      return;
    }
    take_over(from, into, read_job(*rows), salvaged);
  }
}

}  // namespace

Salvaged salvage(const std::string& path, const Database& into) {
  Salvaged salvaged;
  const auto from = Database::open(path);
  if (from) {
    // Around what is damaged: indices may be, too.
    read_from(*from, "NOT INDEXED ORDER BY number", into, salvaged);
    read_from(*from, "NOT INDEXED ORDER BY number DESC", into, salvaged);
  }
  return salvaged;
}

}  // namespace mynah::jobs
