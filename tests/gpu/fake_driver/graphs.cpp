// Captures and graphs of the fake driver.
#include <algorithm>

#include "state.h"

namespace mynah::gpu::fake {

bool State::forbidden_by_capture(InCapture rule) {
  bool forbidden = false;
  for (const auto& object : objects_) {
    auto* const stream = dynamic_cast<Stream*>(object.get());
    if (rule == InCapture::Allowed || stream == nullptr || !stream->alive ||
        stream->capture == nullptr || stream->context != current()) {
      continue;
    }
    const CUstreamCaptureMode mode = stream->capture->mode;
    const bool ours = stream->capture->thread == std::this_thread::get_id();
    if (rule == InCapture::Forbidden || mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
        (mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && ours)) {
      stream->capture->spoiled = true;
      forbidden = true;
    }
  }
  return forbidden;
}

CUresult State::begin_capture(CUstream stream, CUstreamCaptureMode mode) {
  if (stream == nullptr) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;  // the default stream cannot be captured
  }
  auto* const found = find<Stream>(stream, "stream");
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (found->capture != nullptr) {
    return CUDA_ERROR_ILLEGAL_STATE;
  }
  calls_.back().detail = found->label;
  auto capture = std::make_unique<Capture>();
  capture->graph = make<Graph>("graph");
  capture->graph->alive = false;  // until the capture ends well
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  found->capture = std::move(capture);
  return CUDA_SUCCESS;
}

CUresult State::end_capture(CUstream stream, CUgraph* graph) {
  *graph = nullptr;
  auto* const found = find<Stream>(stream, "stream");
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (found->capture == nullptr) {
    return CUDA_ERROR_ILLEGAL_STATE;
  }
  if (found->capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
      found->capture->thread != std::this_thread::get_id()) {
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  }
  const std::unique_ptr<Capture> capture = std::move(found->capture);
  if (capture->spoiled) {
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
  capture->graph->alive = true;
  calls_.back().detail =
      capture->graph->label + " of " + std::to_string(capture->graph->steps.size()) + " steps";
  *graph = reinterpret_cast<CUgraph>(capture->graph);
  return CUDA_SUCCESS;
}

CUresult State::is_capturing(CUstream stream, CUstreamCaptureStatus* status) {
  auto* const found = find_stream(stream);
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  *status = found->capture == nullptr ? CU_STREAM_CAPTURE_STATUS_NONE
            : found->capture->spoiled ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                      : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}

CUresult State::instantiate(CUgraphExec* executable, CUgraph graph) {
  auto* const found = find<Graph>(graph, "graph");
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  auto* const made = make<GraphExec>("executable graph");
  made->steps = std::make_shared<const std::vector<Work>>(found->steps);
  calls_.back().detail = made->label + " of " + found->label;
  *executable = reinterpret_cast<CUgraphExec>(made);
  return CUDA_SUCCESS;
}

CUresult State::launch_graph(CUgraphExec executable, CUstream stream) {
  auto* const found = find<GraphExec>(executable, "executable graph");
  auto* const target = find_stream(stream);
  if (found == nullptr || target == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  calls_.back().detail = found->label + ", " + target->label;
  if (target->capture != nullptr) {
    problem(found->label + " is launched into a capture, which the fake does not do");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  Work work = {.what = found->label, .run = [this, steps = found->steps] {
                 for (const Work& step : *steps) {
                   ++clock_;
                   if (can_run(step)) {
                     step.run();
                   }
                 }
               }};
  for (const Work& step : *found->steps) {
    work.ranges.insert(work.ranges.end(), step.ranges.begin(), step.ranges.end());
  }
  // What is freed by now is told here, where the caller can be seen; what is freed later, when it
  // runs.
  if (!can_run(work)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return submit(*target, std::move(work));
}

CUresult State::destroy_graph(CUgraph graph) {
  auto* const found = find<Graph>(graph, "graph");
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  calls_.back().detail = found->label;
  found->alive = false;
  return CUDA_SUCCESS;
}

CUresult State::destroy_executable(CUgraphExec executable) {
  auto* const found = find<GraphExec>(executable, "executable graph");
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  calls_.back().detail = found->label;
  found->alive = false;
  return CUDA_SUCCESS;
}

}  // namespace mynah::gpu::fake
