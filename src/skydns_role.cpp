#include "skydns_role.h"

#include "base/files.h"
#include "base/text.h"

namespace fairlead {

Result<skydns::EtcdOptions> SkydnsRole::options_of(const cli::SkydnsOptions& options) {
    skydns::EtcdOptions made;
    made.endpoints = options.endpoints;
    made.prefix = options.prefix;
    made.lease = options.lease;
    made.user = options.user;
    const auto read = [](const std::filesystem::path& file, std::string& to) -> Result<void> {
        if (file.empty()) return {};
        auto text = read_file(file);
        if (!text) return fail(text.error());
        to = std::move(*text);
        return {};
    };
    if (auto done = read(options.ca, made.ca_pem); !done) return fail(done.error());
    if (auto done = read(options.certificate, made.certificate_pem); !done) return fail(done.error());
    if (auto done = read(options.key, made.key_pem); !done) return fail(done.error());
    if (auto done = read(options.password_file, made.password); !done) return fail(done.error());
    made.password = trim(made.password);
    return made;
}

SkydnsRole::SkydnsRole(skydns::EtcdOptions options, const Clock& clock, Random& random, Log& log, Metrics& metrics)
    : clock_(clock) {
    if (options.endpoints.empty()) return;
    writer_.emplace(
        std::move(options), [this] { return leading_(); }, clock, random, log, metrics);
}

SkydnsRole::~SkydnsRole() { stop(); }

void SkydnsRole::start(std::function<bool()> leading) {
    if (!writer_) return;
    leading_ = std::move(leading);
    thread_.emplace([this] { return writer_->step(); }, clock_);
    writer_->on_work([this] { thread_->wake(); });
    thread_->start();
}

void SkydnsRole::stop() {
    if (thread_) thread_->stop();
}

}  // namespace fairlead
