#include "server/server.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "server/access/addresses.h"
#include "server/compat/asr_webservice.h"
#include "server/compat/whisper_cpp.h"
#include "server/http/errors.h"
#include "server/net/activation.h"
#include "server/wyoming/session.h"

namespace mynah::server {
namespace {

Result<std::vector<AddressRange>> parse_ranges(const std::vector<std::string>& texts) {
  std::vector<AddressRange> ranges;
  for (const std::string& text : texts) {
    auto range = AddressRange::parse(text);
    if (!range) {
      return fail(ErrorCode::Usage, "--wyoming-allow: " + range.error().message);
    }
    ranges.push_back(*range);
  }
  return ranges;
}

// In the words of the interface that was asked.
Response tell_error(const RequestHead& head, const Error& error) {
  if (head.path == "/inference" || head.path == "/load") {
    return whisper_cpp_error(error);
  }
  if (head.path == "/asr" || head.path == "/detect-language") {
    return asr_error(error);
  }
  return openai_error(error);
}

void count(const RequestHead& head, const Served& served, Metrics& metrics) {
  metrics.count_request(head.route, served);
  if (head.work == nullptr) {
    return;
  }
  if (const auto waited = head.work->waited()) {
    metrics.count_waited(head.work->does(), std::chrono::duration<double>(*waited).count());
  }
}

}  // namespace

Server::Server(std::unique_ptr<KeyRing> keys, std::unique_ptr<Service> service,
               std::unique_ptr<JobService> jobs, std::unique_ptr<Router> router,
               std::unique_ptr<Network> network)
    : keys_(std::move(keys)),
      service_(std::move(service)),
      jobs_(std::move(jobs)),
      router_(std::move(router)),
      network_(std::move(network)) {}

Result<std::unique_ptr<Server>> Server::create(ServerOptions options,
                                               engine::Surroundings surroundings) {
  std::string host = options.network.host;
  for (const int fd : options.network.passed) {
    host = is_this_machine(host_of(fd)) ? host : host_of(fd);
  }
  MYNAH_TRY(auto keys, KeyRing::open(std::move(options.keys)));
  if (!is_this_machine(host) && keys->empty() && !options.open) {
    return fail(ErrorCode::Usage,
                "--host " + host +
                    " lets other machines ask: wanted a key that they must have (mynah keys add "
                    "NAME makes one), or --open where everybody who reaches this machine may");
  }
  options.gate.names.push_back(host);
  const auto tell = [note = surroundings.tell](const std::string& text) {
    if (note) {
      note({.code = "jobs", .text = text, .remedy = {}});
    }
  };
  MYNAH_TRY(auto service, Service::create(std::move(options.service), std::move(surroundings)));
  MYNAH_TRY(auto jobs, JobService::create(options.jobs, *service, options.media_program, tell));
  auto router =
      std::make_unique<Router>(all_routes(*service, *jobs, options.media_program),
                               Gate(std::move(options.gate), *keys, tell_error), tell_error);
  router->set_base_path(std::move(options.base_path));
  router->show_on(service->board());
  router->retry_after([asked = service.get()] { return asked->estimated_wait(); });
  router->log_to([metrics = &service->metrics(), log = std::move(options.log)](
                     const RequestHead& head, const Served& served) {
    count(head, served, *metrics);
    if (log) {
      log(head, served);
    }
  });
  // Whoever speaks Wyoming shows no key: its address must do.
  MYNAH_TRY(auto allowed, parse_ranges(options.wyoming_allow));
  const bool wide = options.open && !is_this_machine(host);
  const std::string wyoming_host = wide ? host : allowed.empty() ? "127.0.0.1" : "0.0.0.0";
  Network::Admits admits = [wide, allowed = std::move(allowed)](const std::string& peer) {
    return wide || is_this_machine(peer) ||
           std::ranges::any_of(allowed,
                               [&peer](const AddressRange& range) { return range.contains(peer); });
  };
  const bool encrypted = options.network.tls.any();
  MYNAH_TRY(auto network, Network::listen(std::move(options.network), *router));
  if (options.wyoming_port != 0 || !options.wyoming_passed.empty()) {
    // Files are looked into now: clients ask what is here, and wait a second for it at most.
    static_cast<void>(service->hearing_models());
    const auto make = wyoming_sessions(*service, *keys, options.wyoming_endpointing);
    MYNAH_TRY_STATUS(options.wyoming_passed.empty()
                         ? network->listen_also(wyoming_host, options.wyoming_port, make, admits)
                         : network->listen_also(options.wyoming_passed, make, admits));
  }
  service->metrics().watch(
      Metrics::Kind::Gauge, "mynah_connections", "Clients that are connected.",
      [counted = network.get()] { return static_cast<double>(counted->counts().connections); });
  service->metrics().watch(
      Metrics::Kind::Gauge, "mynah_request_threads", "Threads that are at work for requests.",
      [counted = network.get()] { return static_cast<double>(counted->counts().requests); });
  std::unique_ptr<Server> server(new Server(std::move(keys), std::move(service), std::move(jobs),
                                            std::move(router), std::move(network)));
  server->encrypted_ = encrypted;
  if (options.wyoming_port != 0 && !is_this_machine(wyoming_host)) {
    server->announcement_ = Announcement::of_wyoming(options.wyoming_port);
  }
  return server;
}

Status Server::reload() {
  MYNAH_TRY_STATUS(keys_->reload());
  return network_->reload();
}

std::vector<std::string> Server::addresses() const {
  std::vector<std::string> all = network_->addresses();
  for (std::string& address : all) {
    address.insert(0, address.starts_with('/') ? "unix:" : encrypted_ ? "https://" : "http://");
  }
  for (const std::string& address : network_->other_addresses()) {
    all.push_back("tcp://" + address);  // as Wyoming's programs name theirs
  }
  return all;
}

void Server::run(const std::stop_token& stop) {
  const std::stop_callback on_stop(stop, [this] {
    jobs_->stop();
    network_->stop();
  });
  network_->run();
}

}  // namespace mynah::server
