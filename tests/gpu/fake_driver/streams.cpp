// Streams and events of the fake driver: what is submitted, when it is done, who waits for whom.
#include <algorithm>

#include "state.h"

namespace mynah::gpu::fake {

Stream* State::find_stream(CUstream stream) {
  return stream == nullptr ? &current()->default_stream : find<Stream>(stream, "stream");
}

bool State::can_run(const Work& work) {
  for (const Range& range : work.ranges) {
    uint64_t begin = 0;
    const Block* const block = find_block(range.address);
    const Freed* const freed = find_freed(range.address, &begin);
    if (block == nullptr && freed != nullptr) {
      problem(work.what + " uses " + freed->label + " after it was freed");
      return false;
    }
  }
  if (work.function != nullptr && !work.function->alive) {
    problem(work.what + " launches " + work.function->label + " after its module was unloaded");
    return false;
  }
  return true;
}

// The default stream waits for the others, but for those that asked not to.
CUresult State::join_default(const Stream& stream, const Work& work) {
  for (const auto& object : objects_) {
    auto* const other = dynamic_cast<Stream*>(object.get());
    if (other == nullptr || !other->alive || other->context != stream.context ||
        (other->flags & CU_STREAM_NON_BLOCKING) != 0) {
      continue;
    }
    if (other->capture != nullptr) {
      problem(work.what + " in the default stream while " + other->label + " is captured");
      other->capture->spoiled = true;
      return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    run_until(*other, other->submitted);
  }
  return CUDA_SUCCESS;
}

CUresult State::submit(Stream& stream, Work work) {
  if (stream.capture != nullptr) {
    stream.capture->graph->steps.push_back(std::move(work));
    return CUDA_SUCCESS;
  }
  const bool is_default = &stream == &stream.context->default_stream;
  if (is_default) {
    const CUresult result = join_default(stream, work);
    if (result != CUDA_SUCCESS) {
      return result;
    }
  }
  stream.pending.push_back(std::move(work));
  ++stream.submitted;
  if (is_default || machine_.execution == FakeExecution::Immediate) {
    run_until(stream, stream.submitted);
  }
  return CUDA_SUCCESS;
}

void State::run_until(Stream& stream, uint64_t position) {
  while (stream.done < position) {
    const Work work = std::move(stream.pending.front());
    stream.pending.pop_front();
    ++clock_;
    if (can_run(work)) {
      work.run();
    }
    ++stream.done;
  }
}

void State::run_all(const Context& context) {
  for (const auto& object : objects_) {
    auto* const stream = dynamic_cast<Stream*>(object.get());
    if (stream != nullptr && stream->alive && stream->context == &context) {
      run_until(*stream, stream->submitted);
    }
  }
}

CUresult State::create_stream(CUstream* stream, unsigned flags) {
  auto* const made = make<Stream>("stream");
  made->flags = flags;
  calls_.back().detail = made->label;
  *stream = reinterpret_cast<CUstream>(made);
  return CUDA_SUCCESS;
}

CUresult State::destroy_stream(CUstream stream) {
  auto* const found = find<Stream>(stream, "stream");
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  calls_.back().detail = found->label;
  if (found->capture != nullptr) {
    problem(found->label + " is destroyed while it is captured");
    found->capture->graph->alive = false;
    found->capture.reset();
  }
  // The driver answers at once and lets what was submitted end.
  run_until(*found, found->submitted);
  found->alive = false;
  return CUDA_SUCCESS;
}

CUresult State::synchronize_stream(CUstream stream) {
  auto* const found = find_stream(stream);
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  calls_.back().detail = found->label;
  if (found->capture != nullptr) {
    found->capture->spoiled = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  run_until(*found, found->submitted);
  return CUDA_SUCCESS;
}

CUresult State::query_stream(CUstream stream) {
  auto* const found = find_stream(stream);
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  calls_.back().detail = found->label;
  if (found->capture != nullptr) {
    found->capture->spoiled = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  if (found->done == found->submitted) {
    return CUDA_SUCCESS;
  }
  // A step further, so that asking again and again comes to an end.
  run_until(*found, found->done + 1);
  return CUDA_ERROR_NOT_READY;
}

CUresult State::synchronize_context() {
  if (forbidden_by_capture(InCapture::Forbidden)) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  run_all(*current());
  return CUDA_SUCCESS;
}

CUresult State::create_event(CUevent* event, unsigned flags) {
  auto* const made = make<Event>("event");
  made->flags = flags;
  calls_.back().detail = made->label;
  *event = reinterpret_cast<CUevent>(made);
  return CUDA_SUCCESS;
}

CUresult State::destroy_event(CUevent event) {
  auto* const found = find<Event>(event, "event");
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  calls_.back().detail = found->label;
  found->alive = false;
  return CUDA_SUCCESS;
}

CUresult State::record_event(CUevent event, CUstream stream) {
  auto* const found = find<Event>(event, "event");
  auto* const target = find_stream(stream);
  if (found == nullptr || target == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  calls_.back().detail = found->label + ", " + target->label;
  found->captured = target->capture != nullptr ? target->capture->graph : nullptr;
  if (found->captured != nullptr) {
    return CUDA_SUCCESS;
  }
  const CUresult result = submit(
      *target, {.what = "record " + found->label, .run = [this, found] { found->time = clock_; }});
  found->stream = target;
  found->position = target->submitted;
  return result;
}

CUresult State::wait_event(CUstream stream, CUevent event) {
  auto* const found = find<Event>(event, "event");
  auto* const target = find_stream(stream);
  if (found == nullptr || target == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  calls_.back().detail = target->label + " waits for " + found->label;
  const Graph* const captured = target->capture != nullptr ? target->capture->graph : nullptr;
  if (found->captured != captured) {
    if (captured != nullptr) {
      target->capture->spoiled = true;
      return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    problem(found->label + " was recorded in a capture: the fake does not fork one to " +
            target->label);
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  // Never recorded, or within the capture, where the order is that of the calls: nothing to wait
  // for.
  if (found->stream == nullptr || captured != nullptr) {
    return CUDA_SUCCESS;
  }
  return submit(*target, {.what = "wait for " + found->label,
                          .run = [this, other = found->stream, position = found->position] {
                            run_until(*other, position);
                          }});
}

CUresult State::query_event(CUevent event) {
  auto* const found = find<Event>(event, "event");
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  calls_.back().detail = found->label;
  if (found->captured != nullptr) {
    return CUDA_ERROR_CAPTURED_EVENT;
  }
  if (forbidden_by_capture(InCapture::Unsafe)) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  if (found->stream == nullptr || found->stream->done >= found->position) {
    return CUDA_SUCCESS;
  }
  run_until(*found->stream, found->stream->done + 1);
  return CUDA_ERROR_NOT_READY;
}

CUresult State::synchronize_event(CUevent event) {
  auto* const found = find<Event>(event, "event");
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  calls_.back().detail = found->label;
  if (found->captured != nullptr) {
    return CUDA_ERROR_CAPTURED_EVENT;
  }
  if (found->stream != nullptr) {
    run_until(*found->stream, found->position);
  }
  return CUDA_SUCCESS;
}

CUresult State::elapsed_time(float* ms, CUevent begin, CUevent end) {
  auto* const first = find<Event>(begin, "event");
  auto* const last = find<Event>(end, "event");
  if (first == nullptr || last == nullptr || first->stream == nullptr || last->stream == nullptr ||
      ((first->flags | last->flags) & CU_EVENT_DISABLE_TIMING) != 0) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (first->captured != nullptr || last->captured != nullptr) {
    return CUDA_ERROR_CAPTURED_EVENT;
  }
  if (first->stream->done < first->position || last->stream->done < last->position) {
    return CUDA_ERROR_NOT_READY;
  }
  *ms = static_cast<float>(static_cast<double>(last->time) - static_cast<double>(first->time)) *
        1e-3F;
  return CUDA_SUCCESS;
}

}  // namespace mynah::gpu::fake
