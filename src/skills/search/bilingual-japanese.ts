/** Japanese-English word pairs: loan words first, then common native words. See bilingual-software.ts. */
export const JAPANESE_WORDS = `
データ=data データベース=database|db データ分析=data_analysis テーブル=table クエリ=query サーバー=server
サーバ=server クライアント=client クラウド=cloud コンテナ=container|docker デプロイ=deploy|deployment ビルド=build
リリース=release テスト=test|testing ユニットテスト=unit_test デバッグ=debug バグ=bug エラー=error ログ=log|logging
コード=code コードレビュー=code_review レビュー=review リファクタリング=refactor プログラム=program
プログラミング=programming スクリプト=script コマンド=command ターミナル=terminal ブラウザ=browser ウェブ=web
サイト=site|website ページ=page ランディングページ=landing_page アプリ=app アプリケーション=application
モバイル=mobile フロントエンド=frontend バックエンド=backend フレームワーク=framework ライブラリ=library
プラグイン=plugin モジュール=module コンポーネント=component インターフェース=interface アーキテクチャ=architecture
マイクロサービス=microservice セキュリティ=security パスワード=password ログイン=login トークン=token キャッシュ=cache
パフォーマンス=performance メモリ=memory ネットワーク=network ファイル=file フォルダ=folder ディレクトリ=directory
ダウンロード=download アップロード=upload インストール=install アップデート=update バックアップ=backup
バージョン=version リポジトリ=repository|repo ブランチ=branch コミット=commit マージ=merge
プルリクエスト=pull_request|pr イシュー=issue タスク=task プロジェクト=project スケジュール=schedule
カレンダー=calendar ドキュメント=document|documentation テンプレート=template レポート=report
スライド=slides|presentation プレゼン=presentation|slides プレゼンテーション=presentation|slides
エクセル=excel|spreadsheet スプレッドシート=spreadsheet グラフ=chart|graph チャート=chart ダッシュボード=dashboard
メール=email|mail メッセージ=message チャット=chat ボット=bot ミーティング=meeting メモ=memo|note ノート=note
デザイン=design デザインシステム=design_system レイアウト=layout フォント=font カラー=color アイコン=icon ロゴ=logo
イラスト=illustration アニメーション=animation 画像生成=image_generation 動画=video ビデオ=video
動画編集=video_editing 音声=voice|audio オーディオ=audio 音楽=music ポッドキャスト=podcast
スクリーンショット=screenshot マーケティング=marketing コンテンツ=content ブログ=blog ソーシャルメディア=social_media
キャンペーン=campaign ブランド=brand セールス=sales ユーザー=user ユーザーインターフェース=ui|user_interface
顧客=customer 価格=price|pricing 請求書=invoice 契約書=contract 予算=budget 株価=stock_price|stock 投資=investment
ワークフロー=workflow オートメーション=automation 自動化=automation|automate エージェント=agent プロンプト=prompt
モデル=model 機械学習=machine_learning 深層学習=deep_learning 検索=search 翻訳=translate|translation
要約=summary|summarize 記事=article 論文=paper 学習=learning 設計=design 開発=development|develop
実装=implement|implementation 変換=convert|conversion 抽出=extract 作成=create 編集=edit 修正=fix 確認=check|verify
監視=monitor|monitoring 設定=setting|configuration 環境構築=environment_setup 議事録=meeting_minutes|meeting_notes
履歴書=resume 料理=cooking|recipe 天気=weather レシピ=recipe ゲーム=game クイズ=quiz
`;
