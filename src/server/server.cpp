#include "server/server.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "server/access/addresses.h"
#include "server/compat/asr_webservice.h"
#include "server/compat/whisper_cpp.h"
#include "server/http/errors.h"
#include "server/wyoming/session.h"

namespace mynah::server {
namespace {

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

}  // namespace

Server::Server(std::unique_ptr<KeyRing> keys, std::unique_ptr<Service> service,
               std::unique_ptr<Router> router, std::unique_ptr<Network> network)
    : keys_(std::move(keys)),
      service_(std::move(service)),
      router_(std::move(router)),
      network_(std::move(network)) {}

Result<std::unique_ptr<Server>> Server::create(ServerOptions options,
                                               engine::Surroundings surroundings) {
  const std::string& host = options.network.host;
  MYNAH_TRY(auto keys, KeyRing::open(std::move(options.keys)));
  if (!is_this_machine(host) && keys->empty() && !options.open) {
    return fail(ErrorCode::Usage,
                "--host " + host +
                    " lets other machines ask: wanted a key that they must have (mynah keys add "
                    "NAME makes one), or --open where everybody who reaches this machine may");
  }
  options.gate.names.push_back(host);
  MYNAH_TRY(auto service, Service::create(std::move(options.service), std::move(surroundings)));
  auto router =
      std::make_unique<Router>(all_routes(*service, options.media_program),
                               Gate(std::move(options.gate), *keys, tell_error), tell_error);
  router->log_to(std::move(options.log));
  MYNAH_TRY(auto network, Network::listen(std::move(options.network), *router));
  if (options.wyoming_port != 0) {
    // Files are looked into now: clients ask what is here, and wait a second for it at most.
    static_cast<void>(service->hearing_models());
    MYNAH_TRY_STATUS(network->listen_also(options.wyoming_host, options.wyoming_port,
                                          wyoming_sessions(*service)));
  }
  return std::unique_ptr<Server>(
      new Server(std::move(keys), std::move(service), std::move(router), std::move(network)));
}

std::vector<std::string> Server::addresses() const {
  std::vector<std::string> all = network_->addresses();
  for (std::string& address : all) {
    address.insert(0, address.starts_with('/') ? "unix:" : "http://");
  }
  for (const std::string& address : network_->other_addresses()) {
    all.push_back("tcp://" + address);  // as Wyoming's programs name theirs
  }
  return all;
}

void Server::run(const std::stop_token& stop) {
  const std::stop_callback on_stop(stop, [this] { network_->stop(); });
  network_->run();
}

}  // namespace mynah::server
