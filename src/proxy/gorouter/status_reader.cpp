#include "proxy/gorouter/status_reader.h"

#include <fmt/core.h>

#include <utility>

#include "base/text.h"

namespace fairlead::proxy::gorouter {

namespace {

constexpr std::chrono::seconds again{1};  // after an answer that nobody had use for

}  // namespace

StatusReader::StatusReader(AuditOptions options, const Clock& clock, std::function<bool(Routes)> take)
    : options_(std::move(options)), clock_(clock), take_(std::move(take)), thread_([this] { return step(); }, clock) {}

Result<StatusReader::Target> StatusReader::read_url(const std::string& url) {
    const auto scheme = url.find("://");
    if (scheme == std::string::npos || (url.substr(0, scheme) != "http" && url.substr(0, scheme) != "https")) {
        return fail(Errc::invalid, "router status",
                    fmt::format("'{}' is no http or https URL", without_credentials(url)));
    }
    Target target;
    target.shown = without_credentials(url);
    const auto from = scheme + 3;
    const auto path = std::min(target.shown.find('/', from), target.shown.size());
    if (path == from) return fail(Errc::invalid, "router status", fmt::format("'{}' has no host", target.shown));
    target.client = {.base_url = target.shown.substr(0, path),
                     .connect_timeout = std::chrono::seconds(2),
                     .timeout = std::chrono::seconds(15)};
    target.path = target.shown.substr(path);
    if (target.path.empty() || target.path == "/") target.path = "/routes";
    if (const auto at = url.rfind('@'); at != std::string::npos && at > from) {
        const auto who = percent_decode(url.substr(from, at - from), false);
        if (!who) return fail(Errc::invalid, "router status", "the credentials of the URL are not percent-encoded");
        target.authorization = "Basic " + base64(*who);
    }
    return target;
}

Result<void> StatusReader::start() {
    for (const auto& url : options_.urls) {
        auto target = read_url(url);
        if (!target) return fail(target.error());
        targets_.push_back(std::move(*target));
    }
    round_at_ = clock_.monotonic() + options_.interval;
    if (!targets_.empty()) thread_.start();
    return {};
}

Step StatusReader::step() {
    const auto now = clock_.monotonic();
    if (now < round_at_) return {.more = false, .due = round_at_};
    const auto& target = targets_[next_];
    net::Client client(target.client);
    net::ClientRequest request{.target = target.path};
    if (!target.authorization.empty()) request.headers.set("Authorization", target.authorization);
    auto answer = client.send(request);
    Routes routes{target.shown, {}};
    if (!answer) {
        routes.body = fail(answer.error());
    } else if (answer->status != 200) {
        routes.body = fail(Errc::unavailable, fmt::format("answers {}", answer->status));
    } else {
        routes.body = std::move(answer->body);
    }
    if (!take_(std::move(routes))) return {.more = false, .due = clock_.monotonic() + again};
    next_ = (next_ + 1) % targets_.size();
    if (next_ == 0) round_at_ = now + options_.interval;
    return {.more = next_ != 0, .due = round_at_};
}

}  // namespace fairlead::proxy::gorouter
