# `make` or `make help` lists what can be made. ARGS is passed on: make run ARGS="noise --seed 3"

.DEFAULT_GOAL := help
.PHONY: help run test quick night bench figures guide pictures app clean lock

on_linux := $(filter Linux,$(shell uname))
without_display := $(and $(on_linux),$(if $(DISPLAY)$(WAYLAND_DISPLAY),,yes))

# On Linux the tests have a screen of their own, so that they neither need the desktop nor disturb it.
ifdef on_linux
own_screen := env -u WAYLAND_DISPLAY xvfb-run --auto-servernum --server-args="-screen 0 1280x1024x24 -noreset"
endif

help: ## list what can be made
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' Makefile

run: ## open the viewer; without a display, render five seconds to thalweg.mp4 and thalweg.png
ifdef without_display
	@./setup.sh render
	@.venv/bin/thalweg render --frames 150 --fps 30 --set view.quality=medium --out thalweg.mp4 --out thalweg.png $(ARGS)
	@echo "There is no display here, so five seconds were rendered to thalweg.mp4 and, the last of them, to thalweg.png."
	@echo "For the window, type make run in a desktop session, where DISPLAY or WAYLAND_DISPLAY is set."
else
	@./setup.sh window
	@.venv/bin/thalweg $(ARGS)
endif

# What Python and Numba compile is kept, so that the second run of a checkout is short.
unexport PYTHONDONTWRITEBYTECODE
pytest := .venv/bin/pytest --numprocesses=auto --maxprocesses=8

define check_style_and_types
.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/mypy
endef

test: ## check style and types, then run the tests
	@./setup.sh test
	$(check_style_and_types)
	.venv/bin/python -m tests.kernels_at_hand
	$(own_screen) $(pytest) $(ARGS)

quick: ## check style and types, and run the tests that need neither a picture nor a window nor much time
	@./setup.sh test
	$(check_style_and_types)
	$(pytest) -m "not slow" tests/kernels tests/app $(ARGS)

night: ## run every test with many more inputs, and those that take hours; NIGHTLY_INPUTS=100 makes it shorter
	@./setup.sh test
	.venv/bin/python -m tests.kernels_at_hand
	$(own_screen) $(pytest) --hypothesis-profile nightly --override-ini faulthandler_timeout=22000 $(ARGS)

bench: ## measure this machine against the bars
	@./setup.sh render
	@.venv/bin/thalweg bench $(ARGS)

figures: ## measure all anew into assets/figures.json, and write the table of the README from it
	@./setup.sh render
	.venv/bin/thalweg bench --json assets/figures.json --against assets/figures.json $(ARGS)
	.venv/bin/python -c "from app.bench import figures; figures.write_table()"

guide: ## write anew what pages of the guide derive from tables, imports and examples
	@./setup.sh test
	@.venv/bin/python -m tests.making.guide

pictures: ## draw the pictures of README and guide anew, about half an hour; ARGS="lakes delta" names some of them, ARGS=gallery all cards, ARGS=views a sheet
	@./setup.sh render
	@$(own_screen) .venv/bin/python -m tests.making.pictures $(ARGS)

app: ## make dist/thalweg, a folder that runs without Python; some four minutes on two cores
	@./setup.sh test
	.venv/bin/python -m tests.making.freeze dist

clean: ## remove everything that was made
	rm -rf .venv build dist thalweg.mp4 thalweg.png tests/screenshots/failed
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

uv_compile := build/lock/bin/uv pip compile --quiet pyproject.toml --extra install \
	--universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
	--no-annotate --custom-compile-command "make lock"

lock: ## resolve the dependencies of pyproject.toml anew, for all systems and Pythons, into requirements*.lock
	@./setup.sh render
	.venv/bin/python -m venv build/lock
	build/lock/bin/pip install --quiet uv
	$(uv_compile) --extra app --extra export --extra sweep --extra test --upgrade --output-file requirements-test.lock
	$(uv_compile) --upgrade --constraint requirements-test.lock --output-file requirements.lock
