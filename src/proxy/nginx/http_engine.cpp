#include "proxy/nginx/http_engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "base/backoff.h"
#include "base/files.h"
#include "base/text.h"
#include "proxy/haproxy/pem.h"

namespace fairlead::proxy::nginx {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Backoff retry_after{.base = milliseconds(100), .cap = seconds(10)};
// Nothing is due: looked at now and then all the same.
constexpr seconds idle{60};
// Some 10 ms each: a few bad owners among thousands are found within seconds.
constexpr int max_tests = 400;

}  // namespace

HttpEngine::Meters::Meters(Metrics& metrics)
    : reloads(metrics.counter("fairlead_proxy_nginx_reloads_total", "Reloads of nginx.")),
      restarts(
          metrics.counter("fairlead_proxy_nginx_restarts_total", "Times that nginx had died and was started again.")),
      errors(metrics.counter("fairlead_proxy_nginx_errors_total",
                             "Configurations that nginx refused, and starts that failed.")),
      servers(metrics.gauge("fairlead_proxy_nginx_servers", "Server blocks in nginx's configuration.")),
      refused(metrics.gauge("fairlead_proxy_nginx_refused",
                            "Ingresses that are left out because nginx refuses their rules.")),
      pause(metrics.gauge("fairlead_proxy_nginx_reload_pause_seconds",
                          "How long the next reload of nginx waits after the last one, by what that one took.")) {}

HttpEngine::HttpEngine(HttpOptions options, const Clock& clock, Log& log, Metrics& metrics, std::function<void()> wake)
    : options_(std::move(options)),
      clock_(clock),
      log_(log),
      meters_(metrics),
      server_(options_.server, clock, std::move(wake)) {}

Result<void> HttpEngine::start() {
    if (auto prepared = server_.prepare(); !prepared) return prepared;
    const auto certificate = options_.server.directory / "default.pem";
    const auto& own = options_.settings.default_certificate_pem;
    auto pem = own.empty() ? read_file(certificate) : Result<std::string>(own);
    if (!pem || !haproxy::check_certificate(*pem)) pem = haproxy::make_self_signed("fairlead balancer");
    if (!pem) return fail(pem.error());
    if (auto written = write_file(certificate, *pem, 0600); !written) return written;
    // What a former driver left serves on until a table comes; its files, if it is gone.
    inherited_ = server_.adopt();
    if (!inherited_ && server_.installed()) inherited_ = server_.start_from_files().has_value();
    up_ = inherited_;
    if (inherited_) log_.info("nginx adopted", {{"directory", options_.server.directory.string()}});
    return {};
}

void HttpEngine::stop_proxy() { server_.stop(options_.server.drain + seconds(1)); }

void HttpEngine::reset(traffic::RoutingTable table, std::uint64_t version) {
    table_ = std::move(table);
    version_ = version;
    known_ = changed_ = true;
}

void HttpEngine::change(const traffic::TableDiff& change, std::uint64_t version) {
    traffic::apply(table_, change);
    version_ = version;
    changed_ = changed_ || !change.empty();
}

HttpConfig HttpEngine::only(const std::set<std::string>& owners) const {
    std::set<std::string> without;
    const auto all = owners_of(table_);
    std::set_difference(all.begin(), all.end(), owners.begin(), owners.end(), std::inserter(without, without.end()));
    return render_http(options_.settings, options_.server.directory, table_, without);
}

std::string HttpEngine::print_of(const std::string& owner) const { return sha256_hex(only({owner}).text); }

void HttpEngine::plan() {
    const auto owners = owners_of(table_);
    std::erase_if(refused_, [&](const auto& one) {
        return !owners.contains(one.first) || print_of(one.first) != one.second.print;
    });
    std::set<std::string> without;
    for (const auto& [owner, why] : refused_) without.insert(owner);
    config_ = render_http(options_.settings, options_.server.directory, table_, without);
    meters_.refused.set(static_cast<double>(refused_.size()));
    changed_ = false;
}

Result<void> HttpEngine::write_files(const HttpConfig& config) const {
    for (const auto& [name, pem] : config.files) {
        const auto path = options_.server.directory / name;
        if (std::filesystem::exists(path)) continue;  // named after what is in it
        if (auto written = write_file(path, pem, 0600); !written) return written;
    }
    return {};
}

void HttpEngine::remove_other_files() const {
    std::error_code error;
    std::vector<std::filesystem::path> old;
    for (std::filesystem::directory_iterator entry(options_.server.directory, error), end; !error && entry != end;
         entry.increment(error)) {
        const auto name = entry->path().filename().string();
        if (name.ends_with(".pem") && name != "default.pem" && !config_.files.contains(name)) {
            old.push_back(entry->path());
        }
    }
    for (const auto& path : old) std::filesystem::remove(path, error);
}

Result<void> HttpEngine::search(const std::vector<std::string>& owners, int& tests_left) {
    if (tests_left-- <= 0) {
        return fail(Errc::too_large, fmt::format("whose rules nginx refuses was not found in {} tests", max_tests));
    }
    const auto config = only({owners.begin(), owners.end()});
    if (auto written = write_files(config); !written) return written;
    auto why = server_.test(config.text);
    if (!why) return fail(why.error());
    if (why->empty()) return {};
    if (owners.size() == 1) {
        log_.warn("nginx refuses an Ingress, which is left out", {{"owner", owners.front()}, {"why", *why}});
        refused_[owners.front()] = {sha256_hex(config.text), *why};
        return {};
    }
    const auto half = owners.begin() + static_cast<std::ptrdiff_t>(owners.size() / 2);
    if (auto done = search({owners.begin(), half}, tests_left); !done) return done;
    return search({half, owners.end()}, tests_left);
}

Result<void> HttpEngine::find_refused() {
    const auto nobody = server_.test(only({}).text);
    if (!nobody) return fail(nobody.error());
    if (!nobody->empty()) return fail(Errc::invalid, "nginx refuses: " + *nobody);
    std::vector<std::string> owners;
    for (const auto& owner : owners_of(table_)) {
        if (!refused_.contains(owner)) owners.push_back(owner);
    }
    int tests_left = max_tests;
    const auto before = refused_.size();
    if (auto done = search(owners, tests_left); !done) return done;
    if (refused_.size() == before) return fail(Errc::invalid, "nginx refuses rules together that it takes apart");
    return {};
}

Result<bool> HttpEngine::bring() {
    if (auto written = write_files(config_); !written) return fail(written.error());
    auto brought = server_.bring(config_.text);
    if (brought || brought.error().code != Errc::invalid) return brought;
    meters_.errors.add();
    const auto refusal = brought.error();
    if (auto found = find_refused(); !found) {
        return fail(found.error().code, fmt::format("{}; {}", refusal.text(), found.error().text()));
    }
    plan();
    return server_.bring(config_.text);
}

void HttpEngine::failed(MonotonicTime now, const Error& error) {
    ++failures_;
    meters_.errors.add();
    if (trouble_ != error.text()) log_.error("nginx does not follow", {{"error", error.text()}});
    trouble_ = error.text();
    retry_ = now + retry_after.delay(failures_, random_);
}

void HttpEngine::revive() {
    if (!server_.ever_ran() || server_.alive()) return;
    log_.error("nginx has died");
    meters_.restarts.add();
    server_.forget_dead();
    reload_at_.reset();
    up_ = false;
}

Step HttpEngine::step() {
    const auto now = clock_.monotonic();
    revive();
    if (retry_ && now < *retry_) return {.due = retry_};
    const bool running = server_.alive();
    if (!known_ && running) return {.due = now + idle};
    // Many changes at once, at a pace.
    const bool paused = running && reload_at_ && now < *reload_at_;
    if (changed_ || config_.text.empty()) {
        if (paused) return {.due = reload_at_};
        plan();
    }
    if (!running || !server_.holds(config_.text)) {
        if (paused) return {.due = reload_at_};
        const auto brought = bring();
        const auto ended = clock_.monotonic();
        const auto pause = options_.pace.pause_after(ended - now);
        reload_at_ = ended + pause;
        meters_.pause.set(std::chrono::duration<double>(pause).count());
        if (!brought) {
            up_ = server_.alive();
            failed(now, brought.error());
            return {.due = retry_};
        }
        if (*brought) {
            ++reloads_;
            meters_.reloads.add();
            log_.debug("nginx reloaded", {{"servers", config_.servers}});
        }
        remove_other_files();
        meters_.servers.set(static_cast<double>(config_.servers));
    }
    failures_ = 0;
    trouble_.clear();
    retry_.reset();
    up_ = true;
    if (known_) {
        programmed_ = version_;
        inherited_ = false;
    }
    return {.due = now + idle};
}

Progress HttpEngine::progress() const {
    Progress progress{.up = up_,
                      .inherited = inherited_,
                      .programmed = programmed_,
                      .problems = config_.problems,
                      .trouble = trouble_,
                      .reloads = reloads_};
    for (const auto& [owner, refused] : refused_) progress.problems[owner] = "nginx refuses: " + refused.why;
    return progress;
}

}  // namespace fairlead::proxy::nginx
