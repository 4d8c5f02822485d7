// The real embedded store below the simulation: every commit goes to a file, and a loss of power leaves what the file
// and its log held at that moment. Slow (each commit waits for the disk), so only a few seeds use it.
#include <filesystem>

#include "simulation/process.h"
#include "simulation/sim_store.h"
#include "store/embedded.h"
#include "store/memory.h"

namespace fairlead::simulation {

namespace {

class EmbeddedBacking final : public Backing {
public:
    EmbeddedBacking(std::filesystem::path folder, store::HistoryLimits limits, Surroundings& around)
        : folder_(std::move(folder)), limits_(limits), around_(around) {
        std::filesystem::create_directories(life());
        open();
    }
    EmbeddedBacking(const EmbeddedBacking&) = delete;
    EmbeddedBacking& operator=(const EmbeddedBacking&) = delete;
    ~EmbeddedBacking() override {
        store_.reset();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    store::Store& store() override { return *store_; }

    // The files are copied while the store has them open, as a killed process would leave them: nothing is flushed,
    // closed or tidied up first.
    void reopen(const std::vector<std::vector<store::Op>>&) override {
        const auto before = life();
        ++lives_;
        std::filesystem::create_directories(life());
        for (const auto& file : std::filesystem::directory_iterator(before)) {
            const auto name = file.path().filename();
            if (name.string().starts_with("store.db")) std::filesystem::copy_file(file.path(), life() / name);
        }
        store_.reset();
        std::filesystem::remove_all(before);
        open();
    }

private:
    [[nodiscard]] std::filesystem::path life() const { return folder_ / std::to_string(lives_); }
    void open() {
        store::EmbeddedOptions options;
        options.file = life() / "store.db";
        options.history = limits_;
        options.reserved_log_bytes = 0;
        auto opened = store::open_embedded_store(options, around_.log, around_.metrics);
        // A store that does not open after a crash has lost everything.
        if (!opened) opened = store::make_memory_store(limits_);
        store_ = std::move(*opened);
    }

    std::filesystem::path folder_;
    store::HistoryLimits limits_;
    Surroundings& around_;
    int lives_ = 0;
    std::unique_ptr<store::Store> store_;
};

}  // namespace

std::unique_ptr<Backing> make_embedded_backing(const std::string& folder, store::HistoryLimits limits,
                                               Surroundings& around) {
    return std::make_unique<EmbeddedBacking>(folder, limits, around);
}

}  // namespace fairlead::simulation
